/* A library that is loaded and unloaded: FUNCTION is its one function. */
volatile int sink;
void FUNCTION(void);
void FUNCTION(void)
{
	sink++;
}
