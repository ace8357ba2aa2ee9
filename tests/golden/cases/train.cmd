limpet train fixtures/train/good fixtures/train/later --win-size 8 --smooth 2 -o t.thr
cat t.thr
limpet train fixtures/train/slow.csv --win-size 8 --win-shift 4 --smooth 2 -m await -o /dev/stdout
limpet train fixtures/train/slow.csv --win-size 8 -k 2 --smooth 2 -m rd_sec --json -o u.thr
# Only the end of the data.
limpet train fixtures/train/good fixtures/train/later --last 30s --win-size 8 --smooth 2 -o v.thr
limpet train fixtures/train/good --last 0h30s --win-size 8 --smooth 2 -o v.thr
# What was learnt, used.
limpet diagnose fixtures/train/good --thresholds t.thr --quiet --json
limpet diagnose fixtures/train/good --thresholds t.thr --k 2
limpet diagnose fixtures/train/good --thresholds fixtures/train/slow.csv
ls
