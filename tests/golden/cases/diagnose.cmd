limpet diagnose fixtures/recordings/slow-disk
limpet diagnose fixtures/recordings/slow-disk --hourly
limpet diagnose fixtures/recordings/slow-disk --until 2026-11-15T09:04:30Z
limpet diagnose fixtures/recordings/slow-disk --threshold await=1000000 -m await
limpet diagnose fixtures/recordings/slow-disk --method median --verbose
limpet topology fixtures/recordings/slow-disk
limpet topology --suggest fixtures/recordings/slow-disk
