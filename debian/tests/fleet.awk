# Four servers for ten minutes; the disk of oss3 becomes slow.
BEGIN {
	srand(1)
	print "time,component,metric,value"
	for (t = 0; t < 600; t++)
		for (s = 1; s <= 4; s++)
			printf "%d,oss%d/disk:sda,await,%.2f\n", 1700000000 + t, s, (s == 3 && t > 200 ? 45 : 5) + rand()
}
