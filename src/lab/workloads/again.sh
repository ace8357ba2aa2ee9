# Runs a workload that may fail: its script is the first argument. Waits while the file HOLD exists.
# When a script fails, notes that in FAILED and starts it again.
while [ -e "$HOLD" ]; do
	sleep 0.2
done
while :; do
	sh -c "$1" && continue
	echo failed >>"$FAILED"
	sleep 1
done
