limpet show
limpet show nowhere
limpet show -m nonsense trees
limpet check
limpet check nowhere.lpa
limpet check trees/README.md
limpet import
limpet show -m awat fixtures/train/good
