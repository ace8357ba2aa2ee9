limpet diagnose fixtures/recordings/slow-disk --until 2026-11-15T09:02:50Z
limpet diagnose fixtures/recordings/slow-disk --until 2026-11-15T09:02:50Z --hourly
limpet diagnose fixtures/recordings/slow-disk --since 2026-11-16
limpet diagnose fixtures/recordings/slow-disk -c "oss[12]/*"
limpet diagnose fixtures/recordings/slow-disk -m rxbyt
limpet diagnose fixtures/recordings/slow-disk -m nonsense
limpet diagnose fixtures/recordings/slow-disk --expect fixtures/inventory/all --until 2026-11-15T09:04:30Z
limpet diagnose fixtures/recordings/slow-disk --expect fixtures/inventory/more --until 2026-11-15T09:04:30Z
limpet diagnose fixtures/recordings/slow-disk --expect fixtures/inventory/more
limpet diagnose fixtures/recordings/slow-disk --expect fixtures/inventory/more -c "oss[1-6]/*" --until 2026-11-15T09:04:30Z
limpet diagnose fixtures/recordings/slow-disk --expect fixtures/inventory/bad
limpet diagnose fixtures/recordings/slow-disk --expect nonexistent
