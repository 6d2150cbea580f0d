#include "monitor.h"

#include <string.h>

void monitor_open(monitor *m, const char *path, const char *env_name) {
  static char buffer[1 << 14];
  memset(m, 0, sizeof *m);
  m->start = host_seconds();
  m->file = fopen(path, "wb");
  if (!m->file) host_fail("cannot write %s", path);
  setvbuf(m->file, buffer, _IOFBF, sizeof buffer);
  fprintf(m->file, "#{\"t_start\": %.6f, \"env_id\": \"%s\"}\n", m->start, env_name);
  fputs("r,l,t\r\n", m->file); /* Python's csv module ends rows with CR LF */
}

void monitor_step(monitor *m, const training *t) {
  if (!m->file) return;
  for (uint32_t i = 0; i < t->config.num_envs && i < MONITOR_MAX_ENVS; i++) {
    m->sum[i] += (double)t->reward[i];
    m->len[i]++;
    if (!t->terminated[i] && !t->truncated[i]) continue;
    fprintf(m->file, "%.6f,%u,%.6f\r\n", m->sum[i], (unsigned)m->len[i], host_seconds() - m->start);
    m->sum[i] = 0;
    m->len[i] = 0;
  }
}

void monitor_close(monitor *m) {
  if (m->file && fclose(m->file)) host_fail("cannot write the monitor file");
  m->file = NULL;
}
