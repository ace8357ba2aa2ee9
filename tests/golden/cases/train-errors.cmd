limpet train
limpet train fixtures/train/good
limpet train -o t.thr
limpet train nowhere -o t.thr
limpet train fixtures/train/good -o t.thr
limpet train fixtures/train/good -o t.thr --method best
limpet train fixtures/train/good -o t.thr --win-size 1
limpet train fixtures/train/good -o t.thr --win-size many
limpet train fixtures/train/good -o t.thr --win-shift 61
limpet train fixtures/train/good -o t.thr --smooth 0
limpet train fixtures/train/good -o t.thr --k 0
limpet train fixtures/train/good -o t.thr --downsample 0
limpet train fixtures/train/good -o t.thr -m nonsense
limpet train fixtures/train/good -o t.thr -m awat
limpet train fixtures/train/good -o t.thr --last 1h --since 2h
limpet train fixtures/train/good -o t.thr -c 'oss[01]/*' --win-size 8
limpet train fixtures/train/good -o no/such/dir/t.thr --win-size 8
ls
