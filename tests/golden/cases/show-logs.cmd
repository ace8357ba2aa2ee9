limpet show fixtures/traces
limpet show --calls fixtures/traces/s3.lpa
limpet show --calls --failed fixtures/traces
limpet show --calls --failed --each fixtures/traces
limpet show --calls --errno EMFILE,ECONNREFUSED --json fixtures/traces
limpet show --calls --slower 100ms --class read,wait fixtures/traces
limpet show --calls --call pwrite64 --since @0 --until @1 fixtures/traces
limpet show --descriptors fixtures/traces
limpet show --descriptors --json --pid 15000 fixtures/traces/s3.lpa
limpet show --failed fixtures/traces
limpet show --calls --call nonsense fixtures/traces
limpet show --calls --class nonsense fixtures/traces
limpet show --calls --errno nonsense fixtures/traces
limpet show --calls --pid nobody fixtures/traces
limpet show --calls -m await fixtures/traces
limpet show --calls fixtures/recordings/slow-disk
