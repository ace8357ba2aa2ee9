# The later wins: the same moments again go into the same file, and are shown once.
limpet record --root trees/vanish -o out --name srv --collect host --quiet
limpet record --root trees/vanish -o out --name srv --collect host --quiet
ls out
limpet show -m %user,load1 out
