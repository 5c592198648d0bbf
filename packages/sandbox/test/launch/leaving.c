/* Processes that try to outlive their command. While one lives it appends to the file of its second argument. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *sign;

static void show(void) {
  int file = open(sign, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (write(file, "x", 1) != 1) exit(1);
  close(file);
}

static void leave(void) {
  int nothing = open("/dev/null", O_RDWR);
  for (int at = 0; at < 3; at++) dup2(nothing, at);
  setsid();
  signal(SIGTERM, SIG_IGN);
  signal(SIGCHLD, SIG_IGN);
}

static void *live(void *none) {
  for (;; usleep(50000)) show();
  return none;
}

/* Each process starts the next one and ends. They share their memory, and use its stacks in turn. */
static char stacks[4][65536] __attribute__((aligned(16)));
static time_t shown;

static int hop(void *at) {
  long next = ((long)at + 1) & 3;
  if (time(0) != shown) {
    shown = time(0);
    show();
  }
  usleep(20);
  while (clone(hop, stacks[next] + sizeof stacks[next] - 64, CLONE_VM, (void *)next) < 0);
  syscall(SYS_exit, 0);
  return 0;
}

int main(int count, char **words) {
  const char *how = count > 1 ? words[1] : "";
  sign = count > 2 ? words[2] : "sign";
  if (!strcmp(how, "many")) {
    for (int at = 0; at < 500; at++)
      if (fork() == 0) pause();
    puts("ready");
    fflush(stdout);
    pause();
  }
  if (fork() != 0) return 0;
  leave();
  if (!strcmp(how, "headless")) {
    pthread_t thread;
    pthread_create(&thread, 0, live, 0);
  } else {
    fork();
    clone(hop, stacks[0] + sizeof stacks[0] - 64, CLONE_VM, 0);
  }
  syscall(SYS_exit, 0);
}
