#include "lab/net_hog.h"

DEFINE_NET_HOG(fault_read_network_hog, "read-network-hog", false,
	"it sends to a third party as fast as the network can");
