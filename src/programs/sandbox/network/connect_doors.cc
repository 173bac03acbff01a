#include "programs/sandbox/network/connect_doors.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/unix_socket.h"
#include "base/number.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)  // Linux 5.19
#endif

namespace trainyard::replica {

namespace {

/// The kernel's structures for questions and answers may be larger than our headers': it reads and writes its
/// own size.
constexpr std::size_t kMessageMax = 512;
union Question {
  seccomp_notif asked;
  std::array<char, kMessageMax> room;
};
union Answer {
  seccomp_notif_resp told;
  std::array<char, kMessageMax> room;
};

/// More interrupted connections than one program ever leaves.
constexpr std::size_t kUntoldMax = 64;
constexpr int kConnectArguments = 3;

bool FitsMessages() {
  seccomp_notif_sizes sizes{};
  return syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
         sizes.seccomp_notif <= kMessageMax && sizes.seccomp_notif_resp <= kMessageMax;
}

/// Installs the filter and returns the descriptor of the kernel's questions about this process; -1 with
/// errno.
int InstallFilter() {
  std::vector<sock_filter> filter = MakeConnectFilter();
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  // Without the first, a signal between question and answer (Go's runtime sends them all the time) restarts
  // the call. Without the second, the whole program is slower: see confinement.cc.
  for (const unsigned long more : {SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                                   SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0UL}) {
    const long listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | more, &program);
    if (listener >= 0 || errno != EINVAL) return static_cast<int>(listener);
  }
  return -1;
}

/// One message: errno, and the descriptor if there is one.
void SendDescriptor(int to, int error, int descriptor) {
  static_cast<void>(SendWithDescriptor(to, std::as_bytes(std::span(&error, 1)), descriptor));
}

/// Returns the errno that was sent, or that of receiving it.
int ReceiveDescriptor(int from, UniqueFd& descriptor) {
  int error = 0;
  const auto size = ReceiveWithDescriptor(from, std::as_writable_bytes(std::span(&error, 1)), descriptor);
  if (size < 0) return errno;
  if (size != sizeof(error)) return EPROTO;
  return error == 0 && !descriptor ? EPROTO : error;
}

std::vector<std::byte> ReadMemory(pid_t thread, std::uint64_t at, std::size_t size) {
  std::vector<std::byte> bytes(size);
  const iovec here{.iov_base = bytes.data(), .iov_len = size};
  const iovec there{.iov_base = reinterpret_cast<void*>(at), .iov_len = size};
  const ssize_t read = process_vm_readv(thread, &here, 1, &there, 1, 0);
  if (std::cmp_not_equal(read, size)) bytes.clear();
  return bytes;
}

/// connect(2)'s arguments, whichever system call was used.
struct ConnectCall {
  int socket = -1;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

std::optional<ConnectCall> CallOf(const seccomp_notif& asked) {
  const seccomp_data& data = asked.data;
  if (!IsSocketcall(data.arch, data.nr))
    return ConnectCall{static_cast<int>(data.args[0]), data.args[1],
                       static_cast<std::uint32_t>(data.args[2])};
  std::array<std::uint32_t, kConnectArguments> words{};
  const std::vector<std::byte> bytes = ReadMemory(static_cast<pid_t>(asked.pid), data.args[1], sizeof(words));
  if (bytes.empty()) return std::nullopt;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  return ConnectCall{static_cast<int>(words[0]), words[1], words[2]};
}

/// The process of the thread; -1: not known.
pid_t ProcessOf(int proc, pid_t thread) {
  constexpr std::string_view kKey = "\nTgid:\t";
  std::array<char, 1024> text{};  // it is the fourth line
  const UniqueFd file(openat(proc, (std::to_string(thread) + "/status").c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t size = file ? read(file.get(), text.data(), text.size()) : 0;
  const std::string_view status(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return -1;
  return LeadingNumber<pid_t>(status.substr(at + kKey.size())).value_or(-1);
}

UniqueFd OpenProcess(int proc, pid_t thread) {
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, thread, 0)));
  if (process) return process;
  const pid_t leader = ProcessOf(proc, thread);  // a pidfd refers to a whole process
  return leader > 0 && leader != thread ? UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, leader, 0)))
                                        : UniqueFd();
}

/// A duplicate of the thread's socket, if it is a TCP socket.
UniqueFd TakeSocket(int proc, pid_t thread, int number) {
  const UniqueFd process = OpenProcess(proc, thread);
  if (!process) return {};
  UniqueFd socket(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), number, 0)));
  int type = 0;
  socklen_t size = sizeof(type);
  if (!socket || getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
    return {};
  return socket;
}

ino_t InodeOf(int socket) {
  struct stat found{};
  return fstat(socket, &found) == 0 ? found.st_ino : 0;
}

bool IsOver(int socket) {
  pollfd made{.fd = socket, .events = POLLOUT, .revents = 0};
  return poll(&made, 1, 0) > 0;
}

/// How the connection ended.
int ErrorOf(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

ConnectDoors::ConnectDoors(std::vector<ConnectDoor> doors, Refusal refuses)
    : doors_(std::move(doors)), refuses_(std::move(refuses)) {
  std::array<int, 2> pair{};
  if (!asks() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return;
  ours_.Reset(pair[0]);
  theirs_.Reset(pair[1]);
  proc_.Reset(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void ConnectDoors::Install() noexcept {
  if (!theirs_) return;
  ours_.Reset();
  const UniqueFd listener(FitsMessages() ? InstallFilter() : -1);
  SendDescriptor(theirs_.get(), listener ? 0 : errno, listener.get());
  theirs_.Reset();
}

int ConnectDoors::Receive() noexcept {
  if (!asks()) return 0;
  if (!ours_) return EMFILE;
  theirs_.Reset();
  const int error = ReceiveDescriptor(ours_.get(), listener_);
  ours_.Reset();
  return error;
}

void ConnectDoors::AddTo(std::vector<pollfd>& waiting) const {
  if (listener_) waiting.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  for (const Pending& one : pending_)
    waiting.push_back({.fd = one.socket.get(), .events = POLLOUT, .revents = 0});
}

void ConnectDoors::Serve(const std::vector<pollfd>& waiting) {
  const auto ready = [&waiting](int descriptor) {
    const auto found = std::ranges::find(waiting, descriptor, &pollfd::fd);
    return found == waiting.end() ? short{0} : found->revents;
  };
  std::erase_if(pending_, [&](Pending& one) {
    if (ready(one.socket.get()) == 0) return false;
    Finish(one);
    return true;
  });
  if (!listener_) return;
  const short seen = ready(listener_.get());
  if ((seen & POLLIN) != 0) return TakeQuestion();
  if (seen != 0) listener_.Reset();  // all processes that could ask have ended
}

void ConnectDoors::TakeQuestion() {
  Question question{.room = {}};  // the kernel refuses one that is not empty
  if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
    return;  // the asking process has ended
  const auto thread = static_cast<pid_t>(question.asked.pid);
  // A thread asks one question at a time, so a signal has interrupted its previous one. The flags of that
  // question's socket are restored.
  std::erase_if(pending_, [thread](Pending& one) {
    if (one.thread != thread) return false;
    fcntl(one.socket.get(), F_SETFL, one.flags);
    return true;
  });
  Decide(question.asked);
}

void ConnectDoors::Decide(const seccomp_notif& asked) {
  const auto thread = static_cast<pid_t>(asked.pid);
  const auto go_on = [&] {
    Answer answer{.room = {}};
    answer.told.id = asked.id;
    answer.told.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
  };
  const std::optional<ConnectCall> call = CallOf(asked);
  const bool has_address =
      call && call->size >= sizeof(sockaddr_in) && call->size <= sizeof(sockaddr_storage);
  std::vector<std::byte> address;
  if (has_address) address = ReadMemory(thread, call->address, call->size);
  if (refuses_ && Refuses(asked, call ? call->socket : -1, address))
    return Tell(asked.id, thread, EACCES, -1);
  if (!has_address) return go_on();
  if (!LeadElsewhere(doors_, address)) return go_on();
  UniqueFd socket = TakeSocket(proc_.get(), thread, call->socket);
  if (!socket) return go_on();
  // Only now is it certain that all of this belongs to that thread, and not to one that reused its id.
  if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &asked.id) != 0) return;
  Connect(asked, std::move(socket), address);
}

bool ConnectDoors::Refuses(const seccomp_notif& asked, int socket, std::span<const std::byte> address) const {
  if (!refuses_(address)) return false;
  const UniqueFd process = OpenProcess(proc_.get(), static_cast<pid_t>(asked.pid));
  const UniqueFd its(process ? static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), socket, 0)) : -1);
  int type = SOCK_STREAM;
  socklen_t size = sizeof(type);
  if (its) getsockopt(its.get(), SOL_SOCKET, SO_TYPE, &type, &size);
  return type != SOCK_DGRAM;
}

void ConnectDoors::Connect(const seccomp_notif& asked, UniqueFd socket,
                           const std::vector<std::byte>& address) {
  const auto thread = static_cast<pid_t>(asked.pid);
  const int flags = fcntl(socket.get(), F_GETFL);
  const bool blocks = (flags & O_NONBLOCK) == 0;
  if (blocks) fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  const auto* place = reinterpret_cast<const sockaddr*>(address.data());
  int error = connect(socket.get(), place, static_cast<socklen_t>(address.size())) == 0 ? 0 : errno;
  if (blocks && (error == EINPROGRESS || error == EALREADY)) {
    Pending made{asked.id, thread, std::move(socket), flags};
    if (IsOver(made.socket.get()))
      return Finish(made);  // nearly always, since the listener is on this machine
    pending_.push_back(std::move(made));
    return;
  }
  if (blocks) fcntl(socket.get(), F_SETFL, flags);
  const Untold untold{thread, InodeOf(socket.get())};
  const auto told = std::erase_if(
      untold_, [&](const Untold& one) { return one.thread == untold.thread && one.socket == untold.socket; });
  if (error == EISCONN && told > 0) error = 0;
  Tell(asked.id, thread, error, socket.get());
}

void ConnectDoors::Finish(Pending& made) {
  const int error = ErrorOf(made.socket.get());
  fcntl(made.socket.get(), F_SETFL, made.flags);
  Tell(made.question, made.thread, error, made.socket.get());
}

void ConnectDoors::Tell(std::uint64_t question, pid_t thread, int error, int socket) {
  Answer answer{.room = {}};
  answer.told.id = question;
  answer.told.error = -error;
  if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 || error != 0) return;
  if (untold_.size() == kUntoldMax) untold_.erase(untold_.begin());
  untold_.push_back({thread, InodeOf(socket)});
}

}  // namespace trainyard::replica
