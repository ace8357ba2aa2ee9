# Moments a minute apart: the interval is the tree's own.
mkdir t
cp -rL trees/vanish/20240301T120000Z t/20240301T120000Z
cp -rL trees/vanish/20240301T120001Z t/20240301T120100Z
cp -rL trees/vanish/20240301T120002Z t/20240301T120200Z
limpet record --root t -o out --name srv --collect diskstats,host --disks sda
limpet show out
limpet show -m tps,%user out
