# Partitions and loop devices on request.
limpet record --root trees/kernel-2.6.32 -o a --name srv --collect diskstats --partitions --loops --quiet
limpet show -m tps -i 4s a
limpet record --root trees/kernel-6.1-nvme -o b --name srv --collect diskstats --partitions --quiet
limpet show -m tps -i 4s b
# What is included, what is excluded; the last match decides.
limpet record --root trees/multipath -o c --name srv --collect diskstats --disks 'dm-*' --quiet
limpet show -m await -i 4s c
limpet record --root trees/multipath -o d --name srv --collect diskstats --disks '!sd*,sdf' --quiet
limpet show -m await -i 4s d
limpet record --root trees/vanish -o e --name srv --collect netdev --nets 'eth*,!eth0' --quiet
limpet show -m rxdrop e
limpet record --root trees/vanish -o f --name srv --collect host --quiet
limpet show -m load1,psi_io f
