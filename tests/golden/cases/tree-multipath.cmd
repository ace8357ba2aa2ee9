limpet record --root trees/multipath -o out --name srv --collect diskstats,netdev,host --json --quiet
limpet show out
limpet show --values -c '*/disk:*' out
limpet show -m rxpck,txpck,rxbyt,txbyt,rxdrop,rxmcst -c '*/net:*' out
limpet show --values -c '*/host:*' out
limpet check out/srv-20240301T120000Z.lpa
