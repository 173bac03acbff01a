// Process 1 of a pod's container: starts programs for the agent, which is in another container of the pod.
// It listens on a Unix socket in a directory that both containers have. Each connection is a session: a
// request with three descriptors, which become the program's standard streams (pod_frames.h).
//
// It is linked statically, since images need not have a C library. If it is not process 1 (in tests, or if
// the containers of a pod share processes), only its own descendants are the container's.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "programs/runtimes/inside/pod_container_state.h"
#include "programs/runtimes/inside/pod_exec.h"
#include "programs/runtimes/inside/pod_frames.h"

namespace {

namespace pod = trainyard::replica::pod;

constexpr int kUsage = 64;
constexpr int kCannotListen = 71;
constexpr int kBacklog = 128;
constexpr int kAcceptPauseMs = 1000;
constexpr mode_t kSocketUmask = 0117;  // the owner and the group may connect

/// kFree -> kRequest -> kStarting -> kRunning -> kFree, or for the main program -> kEnded -> kFree.
enum class State {
  kFree,
  kRequest,   // receives the request
  kStarting,  // forked, and exec has not succeeded yet
  kRunning,
  kEnded,  // the main program was reaped, and other processes of the container were not
};

struct Session {
  State state = State::kFree;
  int connection = -1;  // -1: the peer has gone
  pod::StartRequest request;
  size_t received = 0;  // of the request and its strings
  char* strings = nullptr;
  int descriptors[pod::kDescriptors] = {-1, -1, -1};
  size_t descriptor_count = 0;
  int report = -1;  // the child's report comes here; its end without any: exec has succeeded
  char* report_bytes = nullptr;
  size_t reported = 0;
  pod::StarterSignal signal;
  size_t signal_received = 0;
  pid_t program = -1;
  int wait_status = 0;
  int oom_kills = -1;  // of the container, before the program
};

Session sessions[pod::kSessionsMax];
bool stopping = false;       // the pod is being stopped
bool accept_paused = false;  // there are no descriptors or no memory for a further connection

void Close(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

void CloseDescriptors(Session& session) {
  for (int& descriptor : session.descriptors) Close(descriptor);
}

void Drop(Session& session) {
  Close(session.connection);
  Close(session.report);
  CloseDescriptors(session);
  free(session.strings);
  free(session.report_bytes);
  session = Session{};
  accept_paused = false;
}

bool HasProgram(const Session& session) {
  return session.state == State::kStarting || session.state == State::kRunning;
}

bool IsWhole(const Session& session) { return (session.request.flags & pod::kWhole) != 0; }

/// Whether everything in the container has to end.
bool IsEnding() {
  for (const Session& session : sessions) {
    if (session.state == State::kEnded) return true;
    if (HasProgram(session) && IsWhole(session) && session.connection < 0) return true;
  }
  return false;
}

bool HasPrograms() {
  for (const Session& session : sessions) {
    if (HasProgram(session) || session.state == State::kEnded) return true;
  }
  return false;
}

/// The main program that runs; null: there is none.
const Session* MainProgram() {
  for (const Session& session : sessions) {
    if (session.state == State::kRunning && IsWhole(session)) return &session;
  }
  return nullptr;
}

int OomKillsSince(int before) {
  const int now = pod::OomKills();
  return before < 0 || now < before ? -1 : now - before;
}

// The events for the peer. They are a few bytes, so a peer that does not read them has gone or goes soon.

void Send(const Session& session, const void* bytes, size_t size) {
  if (session.connection >= 0) send(session.connection, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Refuse(Session& session, int error, pod::Step step) {
  const pod::StarterEvent event{pod::Kind::kFailed, error, static_cast<int32_t>(step), 0};
  Send(session, &event, sizeof(event));
  Drop(session);
}

void SendEnd(Session& session) {
  const pod::MemoryOfContainer memory = pod::ContainerMemory();
  const pod::StarterEvent event{pod::Kind::kEnded,  session.wait_status, OomKillsSince(session.oom_kills), 0,
                                memory.limit_bytes, memory.peak_bytes};
  Send(session, &event, sizeof(event));
  Drop(session);
}

// Sessions.

void Start(Session& session) {
  int report[2];
  session.report_bytes = static_cast<char*>(malloc(pod::kReportMax));
  if (session.report_bytes == nullptr || pipe2(report, O_CLOEXEC) != 0)
    return Refuse(session, errno, pod::Step::kFork);
  session.oom_kills = pod::OomKills();
  const pid_t program = fork();
  if (program == 0) {
    if (const Session* main = MainProgram()) pod::SetVariablesOf(main->request, main->strings);
    pod::RunProgram(session.request, session.strings, session.descriptors, report[1]);
  }
  const int error = errno;
  close(report[1]);  // before any other fork: its end means that exec succeeded
  session.report = report[0];
  if (program < 0) return Refuse(session, error, pod::Step::kFork);
  fcntl(report[0], F_SETFL, O_NONBLOCK);
  session.program = program;
  session.state = State::kStarting;
  CloseDescriptors(session);
  if (IsWhole(session)) return;  // others get its variables
  free(session.strings);
  session.strings = nullptr;
}

/// Reads what the child says about exec.
void TakeReport(Session& session) {
  for (;;) {
    const size_t room = pod::kReportMax - session.reported;
    const ssize_t size = room > 0 ? read(session.report, session.report_bytes + session.reported, room) : 0;
    if (size < 0) return;  // nothing more yet
    if (size == 0) break;
    session.reported += static_cast<size_t>(size);
  }
  Close(session.report);
  if (session.reported == 0) {
    const pod::StarterEvent event{pod::Kind::kStarted, 0, 0, 0};
    Send(session, &event, sizeof(event));
    session.state = State::kRunning;
  } else {
    Send(session, session.report_bytes, session.reported);
    Drop(session);  // the child ends by itself
  }
}

/// The peer has gone.
void Lose(Session& session) {
  if (session.state == State::kRequest) return Drop(session);
  Close(session.connection);
  if (!HasProgram(session)) return;
  kill(-session.program, SIGKILL);
  kill(session.program, SIGKILL);  // it may not have its own group yet
}

/// Keeps the descriptors of a message. False: there are more than a request has.
bool TakeDescriptors(Session& session, msghdr& message) {
  bool fits = (message.msg_flags & MSG_CTRUNC) == 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      if (session.descriptor_count < pod::kDescriptors) {
        session.descriptors[session.descriptor_count++] = descriptor;
      } else {
        close(descriptor);
        fits = false;
      }
    }
  }
  return fits;
}

/// Receives up to `size` bytes of the request. False: there are none now, or the session has ended.
bool Receive(Session& session, void* bytes, size_t size) {
  iovec part{bytes, size};
  alignas(cmsghdr) char room[CMSG_SPACE(pod::kDescriptors * sizeof(int))];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof(room);
  const ssize_t got = recvmsg(session.connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    Lose(session);
    return false;
  }
  session.received += static_cast<size_t>(got);
  if (TakeDescriptors(session, message)) return true;
  Refuse(session, EBADMSG, pod::Step::kRequest);
  return false;
}

void ReceiveRequest(Session& session) {
  constexpr size_t kHeader = sizeof(session.request);
  while (session.received < kHeader) {
    char* at = reinterpret_cast<char*>(&session.request) + session.received;
    if (!Receive(session, at, kHeader - session.received)) return;
  }
  const pod::StartRequest& request = session.request;
  if (session.strings == nullptr) {
    if (request.magic != pod::kMagic || request.size == 0)
      return Refuse(session, EBADMSG, pod::Step::kRequest);
    if (request.size > pod::kStringsMax) return Refuse(session, E2BIG, pod::Step::kRequest);
    session.strings = static_cast<char*>(malloc(request.size));
    if (session.strings == nullptr) return Refuse(session, ENOMEM, pod::Step::kRequest);
  }
  while (session.received < kHeader + request.size) {
    const size_t have = session.received - kHeader;
    if (!Receive(session, session.strings + have, request.size - have)) return;
  }
  if (session.descriptor_count != pod::kDescriptors) return Refuse(session, EBADMSG, pod::Step::kRequest);
  Start(session);
}

void ReceiveSignal(Session& session) {
  char* at = reinterpret_cast<char*>(&session.signal) + session.signal_received;
  const ssize_t got =
      recv(session.connection, at, sizeof(session.signal) - session.signal_received, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return Lose(session);
  session.signal_received += static_cast<size_t>(got);
  if (session.signal_received < sizeof(session.signal)) return;
  session.signal_received = 0;
  const int number = session.signal.number;
  if (number > 0 && number <= pod::kSignalMax) kill(-session.program, number);
}

void Accept(int listener) {
  const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) {
    accept_paused = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
    return;
  }
  for (Session& session : sessions) {
    if (session.state != State::kFree) continue;
    session.state = State::kRequest;
    session.connection = connection;
    return;
  }
  Session refused;
  refused.connection = connection;
  Refuse(refused, EAGAIN, pod::Step::kSessions);
}

void OnReaped(Session& session, int wait_status) {
  if (session.state == State::kStarting) TakeReport(session);
  if (session.state != State::kRunning) return;
  session.wait_status = wait_status;
  session.program = -1;
  if (IsWhole(session)) {
    session.state = State::kEnded;
  } else {
    SendEnd(session);
  }
}

/// Reaps ended processes. If there are no others, main programs that have ended are reported.
void Reap() {
  for (;;) {
    int wait_status = 0;
    const pid_t ended = waitpid(-1, &wait_status, WNOHANG);
    if (ended == 0) return;
    if (ended < 0) break;
    for (Session& session : sessions) {
      if (HasProgram(session) && session.program == ended) OnReaped(session, wait_status);
    }
  }
  for (Session& session : sessions) {
    if (session.state == State::kEnded) SendEnd(session);
  }
}

/// Whether the signal asks for the end: kubelet sends the one that the image names (STOPSIGNAL).
bool IsStop(unsigned number) {
  switch (number) {
    case SIGCHLD:
    case SIGCONT:
    case SIGPIPE:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGURG: return false;
    default: return true;
  }
}

void TakeSignals(int signals) {
  bool has_children_ended = false;
  signalfd_siginfo received;
  while (read(signals, &received, sizeof(received)) == sizeof(received)) {
    // As process 1, only from outside of the container: its own programs cannot stop the pod.
    const bool is_from_outside = getpid() != 1 || received.ssi_pid == 0;
    if (IsStop(received.ssi_signo) && is_from_outside) stopping = true;
    if (received.ssi_signo == SIGCHLD) has_children_ended = true;
  }
  if (has_children_ended) Reap();
}

// The loop.

/// The descriptors that are waited for: signals, the listener, and two of each session.
struct Waits {
  pollfd signals;
  pollfd listener;
  pollfd connections[pod::kSessionsMax];
  pollfd reports[pod::kSessionsMax];
};

void Fill(Waits& waits, bool is_ending) {
  waits.listener.events = accept_paused ? 0 : POLLIN;
  for (size_t i = 0; i < pod::kSessionsMax; ++i) {
    const Session& session = sessions[i];
    // A program that started while others are killed would be killed, too: requests wait.
    const bool waits_too = is_ending && session.state == State::kRequest;
    const bool reads = session.state == State::kRequest || session.state == State::kRunning;
    waits.connections[i] = {waits_too ? -1 : session.connection, reads ? short{POLLIN} : short{0}, 0};
    waits.reports[i] = {session.report, POLLIN, 0};
  }
}

/// Handles ends of programs and peers before requests. So, if the peer of a main program had gone before a
/// request was made, the request starts only when nothing of that program is alive.
void Handle(const Waits& waits) {
  if (waits.signals.revents != 0) TakeSignals(waits.signals.fd);
  for (size_t i = 0; i < pod::kSessionsMax; ++i) {
    Session& session = sessions[i];
    if (waits.reports[i].revents != 0 && session.report == waits.reports[i].fd) TakeReport(session);
    if (waits.connections[i].revents == 0 || session.connection != waits.connections[i].fd) continue;
    if (session.state == State::kRunning && (waits.connections[i].events & POLLIN) != 0) {
      ReceiveSignal(session);
    } else if (session.state != State::kRequest && (waits.connections[i].revents & POLLHUP) != 0) {
      Lose(session);
    }
  }
  const bool is_ending = IsEnding();
  for (size_t i = 0; i < pod::kSessionsMax && !is_ending; ++i) {
    if (sessions[i].state == State::kRequest && waits.connections[i].revents != 0)
      ReceiveRequest(sessions[i]);
  }
  if (waits.listener.revents != 0) Accept(waits.listener.fd);
}

[[noreturn]] void Run(int listener, int signals) {
  Waits waits = {};
  waits.signals = {signals, POLLIN, 0};
  waits.listener = {listener, POLLIN, 0};
  for (;;) {
    const bool is_ending = IsEnding();
    if (is_ending) pod::KillOthers();
    if (stopping && !HasPrograms()) _exit(0);
    Fill(waits, is_ending);
    const int count =
        poll(&waits.signals, sizeof(waits) / sizeof(pollfd), accept_paused ? kAcceptPauseMs : -1);
    if (count == 0) accept_paused = false;
    if (count > 0) Handle(waits);
  }
}

[[noreturn]] void Fail(int status, const char* what, const char* why) {
  dprintf(STDERR_FILENO, "pod_starter: %s: %s\n", what, why);
  _exit(status);
}

/// The socket gets its name when it listens.
int Listen(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const int size = snprintf(address.sun_path, sizeof(address.sun_path), "%s.new", path);
  if (size >= static_cast<int>(sizeof(address.sun_path))) Fail(kUsage, path, "the path is too long");
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) Fail(kCannotListen, "socket", strerror(errno));
  unlink(path);
  unlink(address.sun_path);
  const mode_t umask_before = umask(kSocketUmask);
  const bool is_bound = bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  umask(umask_before);
  if (!is_bound || listen(listener, kBacklog) != 0 || rename(address.sun_path, path) != 0)
    Fail(kCannotListen, path, strerror(errno));
  return listener;
}

/// The number of a received descriptor must not be 0, 1 or 2.
void OpenStandardStreams() {
  int descriptor = 0;
  do {
    descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  Close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) Fail(kUsage, "usage", "pod_starter SOCKET");
  OpenStandardStreams();
#ifdef SYS_close_range
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
#endif
  if (getpid() != 1) prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) Fail(kCannotListen, "signalfd", strerror(errno));
  Run(Listen(argv[1]), signals);
}
