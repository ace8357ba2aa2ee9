limpet record --interval 0
limpet record --interval 50ms
limpet record --interval 2h
limpet record --interval soon
limpet record --interval
limpet record --flush 0s
limpet record --duration -1s
limpet record --keep yesterday
limpet record --keep-bytes many
limpet record --collect disks
limpet record --ports 70000
limpet record --ports nfs
limpet record --tcp-max 100000
limpet record --tcp-max few
limpet record --name a/b
limpet record --name ''
limpet record --name .hidden
limpet record --root nowhere -o out
limpet record --root out -o out2
limpet record --quiet=yes
limpet record --disk sda
limpet record -x
limpet record sda
limpet record --quiet -o /dev/null/x
limpet record --root trees/vanish/20240301T120000Z/sys --quiet
ls
