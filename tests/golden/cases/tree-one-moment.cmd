# A tree without moments is read with the clock of now.
limpet record --root trees/vanish/20240301T120000Z -o out --name srv --collect host --interval 100ms --duration 300ms --quiet
