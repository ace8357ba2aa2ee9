/* loads LIBRARY FUNCTION N ...: load it, call its function N times, unload it. */
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 1; i + 2 < argc; i += 3) {
		void *library = dlopen(argv[i], RTLD_NOW);
		void (*function)(void);

		if (!library)
			return 2;
		*(void **)&function = dlsym(library, argv[i + 1]);
		for (int n = atoi(argv[i + 2]); function && n > 0; n--)
			function();
		dlclose(library);
	}
	return 0;
}
