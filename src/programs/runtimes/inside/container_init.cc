// Process 1 of a container: runs the program that its arguments name, reaps orphans, forwards signals, and
// exits with the program's status. The kernel drops a signal for a process 1 that has no handler for it, so a
// program in that place does not end by SIGTERM as it does everywhere else.
//
// It runs inside of images that need not have a C library, and there is one in each container: no library,
// no heap, one page of stack. Errors of system calls are negative numbers.

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>
#include <linux/wait.h>

namespace {

using Set = unsigned long;  // a set of signals, in the kernel's form

constexpr int kNotFound = 127;
constexpr int kCannotRun = 126;
constexpr int kSignalBase = 128;
constexpr unsigned long kPathMax = 4096;

long Call(long number, long first = 0, long second = 0, long third = 0, long fourth = 0, long fifth = 0) {
#if defined(__x86_64__)
  long result = number;
  register long fourth_register asm("r10") = fourth;
  register long fifth_register asm("r8") = fifth;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(first), "S"(second), "d"(third), "r"(fourth_register), "r"(fifth_register)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long result asm("x0") = first;
  register long second_register asm("x1") = second;
  register long third_register asm("x2") = third;
  register long fourth_register asm("x3") = fourth;
  register long fifth_register asm("x4") = fifth;
  register long number_register asm("x8") = number;
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(second_register), "r"(third_register), "r"(fourth_register), "r"(fifth_register),
                 "r"(number_register)
               : "memory");
  return result;
#else
#error "no system calls are known for this processor"
#endif
}

template <class T>
long Address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

[[noreturn]] void Exit(int status) {
  for (;;) Call(__NR_exit_group, status);
}

unsigned long Length(const char* text) {
  unsigned long length = 0;
  while (text[length] != 0) ++length;
  return length;
}

bool Has(const char* text, char wanted) {
  for (; *text != 0; ++text) {
    if (*text == wanted) return true;
  }
  return false;
}

void Say(const char* text) { Call(__NR_write, 2, Address(text), static_cast<long>(Length(text))); }

/// The value of PATH; execvp's default if it is not set.
const char* SearchPath(const char* const* environment) {
  for (; *environment != nullptr; ++environment) {
    const char* text = *environment;
    if (text[0] == 'P' && text[1] == 'A' && text[2] == 'T' && text[3] == 'H' && text[4] == '=')
      return text + 5;
  }
  return "/bin:/usr/bin";
}

/// "FOLDER/NAME", for the folder at the beginning of `path`; false: too long.
bool Join(const char* path, const char* name, char (&joined)[kPathMax]) {
  unsigned long size = 0;
  for (; path[size] != 0 && path[size] != ':'; ++size) {
    if (size + 2 >= kPathMax) return false;
    joined[size] = path[size];
  }
  if (size == 0) joined[size++] = '.';
  joined[size++] = '/';
  for (; *name != 0; ++name) {
    if (size + 1 >= kPathMax) return false;
    joined[size++] = *name;
  }
  joined[size] = 0;
  return true;
}

/// Returns only if it fails, with the most informative error.
long Execute(char** argv, char** environment) {
  const char* name = argv[0];
  if (Has(name, '/')) return Call(__NR_execve, Address(name), Address(argv), Address(environment));
  long found = -ENOENT;
  char joined[kPathMax];
  for (const char* path = SearchPath(environment);; ++path) {
    if (Join(path, name, joined)) {
      const long error = Call(__NR_execve, Address(&joined[0]), Address(argv), Address(environment));
      if (error != -ENOENT && error != -ENOTDIR) found = error;
      if (error != -ENOENT && error != -ENOTDIR && error != -EACCES) return found;
    }
    while (*path != 0 && *path != ':') ++path;
    if (*path == 0) return found;
  }
}

const char* Reason(long error) {
  switch (-error) {
    case ENOENT: return "No such file or directory";
    case EACCES: return "Permission denied";
    case ENOEXEC: return "Exec format error";
    case E2BIG: return "Argument list too long";
    case ENOMEM: return "Cannot allocate memory";
    default: return "the kernel refuses it";
  }
}

[[noreturn]] void RunProgram(char** argv, char** environment, const Set& mask) {
  Call(__NR_setpgid, 0, 0);  // signals go to all of its group
  Call(__NR_rt_sigprocmask, SIG_SETMASK, Address(&mask), 0, sizeof(mask));
  const long error = Execute(argv, environment);
  Say("cannot run ");
  Say(argv[0]);
  Say(": ");
  Say(Reason(error));
  Say("\n");
  Exit(error == -ENOENT ? kNotFound : kCannotRun);
}

/// The exit status as a shell or an OCI runtime would report it.
int StatusOf(int wait_status) {
  const int signal = wait_status & 0x7f;
  return signal != 0 ? kSignalBase + signal : (wait_status >> 8) & 0xff;
}

/// Reaps ended processes; exits if the program is among them.
void Reap(long program) {
  for (;;) {
    int wait_status = 0;
    const long ended = Call(__NR_wait4, -1, Address(&wait_status), WNOHANG);
    if (ended == program) Exit(StatusOf(wait_status));  // the kernel ends the others
    if (ended <= 0) return;
  }
}

[[noreturn]] void Run(char** argv, char** environment) {
  const Set all = ~0UL;
  Set mask = 0;
  Call(__NR_rt_sigprocmask, SIG_SETMASK, Address(&all), Address(&mask), sizeof(all));
  const long program = Call(__NR_clone, SIGCHLD);
  if (program < 0) {
    Say("cannot run the program: fork: ");
    Say(Reason(program));
    Say("\n");
    Exit(kCannotRun);
  }
  if (program == 0) RunProgram(argv, environment, mask);
  Call(__NR_setpgid, program, program);  // whichever of the two is first
  for (;;) {
    const long signal = Call(__NR_rt_sigtimedwait, Address(&all), 0, 0, sizeof(all));
    if (signal == SIGCHLD)
      Reap(program);
    else if (signal > 0)
      Call(__NR_kill, -program, signal);
  }
}

}  // namespace

/// `stack`: the count of arguments, the arguments, null, the environment.
extern "C" [[noreturn]] __attribute__((used)) void ContainerInit(long* stack) {
  const long count = stack[0];
  char** argv = reinterpret_cast<char**>(stack + 1);
  if (count < 2) {
    Say("usage: init PROGRAM [ARGUMENT]...\n");
    Exit(kCannotRun);
  }
  Run(argv + 1, argv + count + 1);
}

#if defined(__x86_64__)
asm(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call ContainerInit\n");
#else
asm(".globl _start\n_start:\n  mov x29, #0\n  mov x0, sp\n  bl ContainerInit\n");
#endif
