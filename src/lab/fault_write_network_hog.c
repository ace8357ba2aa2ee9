#include "lab/net_hog.h"

DEFINE_NET_HOG(fault_write_network_hog, "write-network-hog", true,
	"a third party sends to it as fast as the network can");
