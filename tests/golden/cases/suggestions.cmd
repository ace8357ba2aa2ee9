# Mistyped words, and what they may have been.
limpet help metrcs
limpet diagnos
limpet diagnose fixtures/recordings/slow-disk --jsno
limpet diagnose fixtures/recordings/slow-disk --format nagioss
limpet diagnose fixtures/recordings/slow-disk --format xml
limpet diagnose fixtures/recordings/slow-disk --color allways
limpet diagnose fixtures/recordings/slow-disk --method kll
limpet show --calls --class raed fixtures/recordings/slow-disk
limpet show --calls --call fsnyc fixtures/recordings/slow-disk
limpet trace syscalls --backend ptrase -- true
limpet trace samples --sampler rign
limpet trace samples --clock cycels
limpet stack run --layers possix -- true
limpet stack run -c posxi -- true
limpet stack show --layer fues fixtures/recordings/slow-disk
