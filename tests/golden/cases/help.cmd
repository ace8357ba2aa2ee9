limpet help
limpet --help
limpet
limpet help record
limpet record --help
limpet help show
limpet help import
limpet help check
limpet help train
limpet help score
limpet help help
limpet help version
limpet help nonsense
limpet nonsense
limpet version
