/* Loads two plugins that each contain the library, with all their symbols global, and checks that neither calls the other's
   library: plugins <first> <second>. */
#include <dlfcn.h>
#include <rlcore.h>
#include <stdio.h>

typedef struct {
  uintptr_t (*library)(void);
  rlcore_status (*fail)(void), (*why)(char *text, size_t size);
} plugin;

static int load(const char *path, plugin *p) {
  void *const file = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (file == NULL) return printf("%s\n", dlerror()), 0;
  *(void **)&p->library = dlsym(file, "plugin_library");
  *(void **)&p->fail = dlsym(file, "plugin_fail");
  *(void **)&p->why = dlsym(file, "plugin_why");
  return p->library != NULL && p->fail != NULL && p->why != NULL;
}

int main(int argc, char **argv) {
  char first[200] = "", second[200] = "";
  plugin one, two;
  if (argc != 3 || !load(argv[1], &one) || !load(argv[2], &two)) return puts("a plugin does not load"), 1;
  if (one.fail() != RLCORE_E_NULL || one.why(first, sizeof first) != RLCORE_OK || first[0] == 0) return puts("no error"), 1;
  if (one.library() == two.library()) return puts("two plugins, one library"), 1;
  if (two.why(second, sizeof second) != RLCORE_OK || second[0] != 0) return printf("the other's error: %s\n", second), 1;
  return puts("two plugins, two libraries"), 0;
}
