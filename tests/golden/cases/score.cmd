limpet score fixtures/score/hog-1.json fixtures/score/hog-2.json fixtures/score/busy-1.json fixtures/score/control-1.json fixtures/score/control-2.json --truth fixtures/score/truth.csv
limpet score fixtures/score/hog-1.json fixtures/score/hog-2.json fixtures/score/busy-1.json fixtures/score/control-1.json fixtures/score/control-2.json --truth fixtures/score/truth.csv --by observer --markdown
limpet score fixtures/score/hog-1.json --truth fixtures/score/truth.csv --json
# What cannot be read or judged is named, the others are scored.
limpet score fixtures/score/cut-off.json fixtures/score/unknown.json fixtures/score/hog-1.json --truth fixtures/score/truth.csv
limpet score
limpet score fixtures/score/hog-1.json
limpet score fixtures/score/hog-1.json --truth nowhere.csv
limpet score fixtures/score/hog-1.json --truth fixtures/score/hog-1.json
limpet score fixtures/score/hog-1.json --truth fixtures/score/truth.csv --by server
limpet score fixtures/score/hog-1.json --truth fixtures/score/truth.csv --json --markdown
