#include "programs/sandbox/network/connect_doors.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

namespace trainyard::replica {
namespace {

constexpr std::uint32_t kFront = 0x7F4D0102;  // 127.77.1.2
constexpr std::uint16_t kTls = 443;

sockaddr_in Address(std::uint32_t address, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_addr.s_addr = htonl(address);
  made.sin_port = htons(port);
  return made;
}

UniqueFd Socket(int family = AF_INET, int type = SOCK_STREAM) {
  return UniqueFd(socket(family, type | SOCK_CLOEXEC, 0));
}

/// 0, or errno.
int Connect(int socket, const sockaddr_in& to) {
  return connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
}

std::uint16_t PeerPort(int socket) {
  sockaddr_in peer{};
  socklen_t size = sizeof(peer);
  return getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0 ? ntohs(peer.sin_port)
                                                                             : std::uint16_t{0};
}

/// A server behind a door, and a program that does not know about it.
class ConnectDoorsTest : public testing::Test {
 protected:
  ConnectDoorsTest() : server_(Socket()) {
    const sockaddr_in any = Address(kFront, 0);
    EXPECT_EQ(bind(server_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof(bound);
    EXPECT_EQ(getsockname(server_.get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
    port_ = ntohs(bound.sin_port);
  }
  ~ConnectDoorsTest() override {
    if (program_ > 0) {
      kill(program_, SIGKILL);
      waitpid(program_, nullptr, 0);
    }
  }

  [[nodiscard]] ConnectDoors Doors() const {
    return ConnectDoors({{.from = {kFront, kTls}, .to = {kFront, port_}}});
  }
  void Listen(int backlog = SOMAXCONN) { ASSERT_EQ(listen(server_.get(), backlog), 0); }

  void Start(ConnectDoors& doors, const std::function<int()>& program) {
    program_ = fork();
    if (program_ == 0) {
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      doors.Install();
      _exit(program());
    }
    pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, program_, 0)));
    ASSERT_EQ(doors.Receive(), 0);
  }
  /// Waits once and answers; false: the program has ended.
  bool ServeOnce(ConnectDoors& doors) {
    std::vector<pollfd> ready = {{.fd = pidfd_.get(), .events = POLLIN, .revents = 0}};
    doors.AddTo(ready);
    poll(ready.data(), ready.size(), -1);
    doors.Serve(ready);
    return ready.front().revents == 0;
  }
  int Reap() {
    int status = 0;
    waitpid(program_, &status, 0);
    program_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  /// Runs the program behind doors and returns its result.
  int Run(const std::function<int()>& program) {
    ConnectDoors doors = Doors();
    Start(doors, program);
    while (ServeOnce(doors)) {
    }
    return Reap();
  }

  UniqueFd server_;
  std::uint16_t port_ = 0;
  pid_t program_ = -1;
  UniqueFd pidfd_;
};

TEST_F(ConnectDoorsTest, LeadABlockingSocket) {
  Listen();
  EXPECT_EQ(Run([this] {
              const UniqueFd socket = Socket();
              if (const int error = Connect(socket.get(), Address(kFront, kTls)); error != 0) return error;
              if (PeerPort(socket.get()) != port_) return 201;
              return (fcntl(socket.get(), F_GETFL) & O_NONBLOCK) == 0 ? 0 : 202;
            }),
            0);
  const UniqueFd peer(accept(server_.get(), nullptr, nullptr));
  EXPECT_TRUE(peer);
}

TEST_F(ConnectDoorsTest, LeadASocketThatDoesNotBlock) {
  Listen();
  EXPECT_EQ(Run([this] {
              const UniqueFd socket = Socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
              const int error = Connect(socket.get(), Address(kFront, kTls));
              if (error != 0 && error != EINPROGRESS) return error;
              pollfd made{.fd = socket.get(), .events = POLLOUT, .revents = 0};
              poll(&made, 1, -1);
              if (PeerPort(socket.get()) != port_) return 201;
              return (fcntl(socket.get(), F_GETFL) & O_NONBLOCK) != 0 ? 0 : 202;
            }),
            0);
}

TEST_F(ConnectDoorsTest, LeadASocketOfIpv6) {
  Listen();
  const UniqueFd probe = Socket(AF_INET6);
  if (!probe) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(Run([] {
              sockaddr_in6 mapped{};
              mapped.sin6_family = AF_INET6;
              mapped.sin6_port = htons(kTls);
              inet_pton(AF_INET6, "::ffff:127.77.1.2", &mapped.sin6_addr);
              const UniqueFd socket = Socket(AF_INET6);
              return connect(socket.get(), reinterpret_cast<sockaddr*>(&mapped), sizeof(mapped)) == 0 ? 0
                                                                                                      : errno;
            }),
            0);
}

TEST_F(ConnectDoorsTest, SayThatNobodyListens) {  // bound, and not listening
  EXPECT_EQ(Run([] { return Connect(Socket().get(), Address(kFront, kTls)); }), ECONNREFUSED);
  EXPECT_EQ(Run([] {
              const UniqueFd socket = Socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
              const int error = Connect(socket.get(), Address(kFront, kTls));
              if (error != EINPROGRESS) return error;
              pollfd made{.fd = socket.get(), .events = POLLOUT, .revents = 0};
              poll(&made, 1, -1);
              return Connect(socket.get(), Address(kFront, kTls));
            }),
            ECONNREFUSED);
}

TEST_F(ConnectDoorsTest, LeaveTheRestAlone) {
  Listen();
  EXPECT_EQ(Run([this] {
              if (Connect(Socket().get(), Address(kFront, port_)) != 0) return 201;
              const UniqueFd datagrams = Socket(AF_INET, SOCK_DGRAM);
              if (Connect(datagrams.get(), Address(kFront, kTls)) != 0 || PeerPort(datagrams.get()) != kTls)
                return 202;
              const UniqueFd local = Socket(AF_UNIX);
              const sockaddr_un nowhere{.sun_family = AF_UNIX, .sun_path = "/nobody/here"};
              if (connect(local.get(), reinterpret_cast<const sockaddr*>(&nowhere), sizeof(nowhere)) == 0 ||
                  errno != ENOENT)
                return 203;
              if (Connect(1000, Address(kFront, kTls)) != EBADF) return 204;
              const UniqueFd socket = Socket();
              if (syscall(SYS_connect, socket.get(), 8, sizeof(sockaddr_in)) == 0 || errno != EFAULT)
                return 205;
              const sockaddr_in front = Address(kFront, kTls);
              if (syscall(SYS_connect, socket.get(), &front, 3) == 0 || errno != EINVAL) return 206;
              return 0;
            }),
            0);
}

TEST_F(ConnectDoorsTest, LeadManyThreadsAndChildren) {
  Listen();
  constexpr int kThreads = 16;
  constexpr int kTimes = 50;
  EXPECT_EQ(Run([] {
              const pid_t child = fork();
              std::atomic<int> wrong = 0;
              std::vector<std::thread> threads;
              for (int i = 0; i < kThreads; ++i) {
                threads.emplace_back([&wrong] {
                  for (int times = 0; times < kTimes; ++times)
                    if (Connect(Socket().get(), Address(kFront, kTls)) != 0) ++wrong;
                });
              }
              for (std::thread& thread : threads) thread.join();
              if (child == 0) _exit(wrong == 0 ? 0 : 1);
              int status = 0;
              waitpid(child, &status, 0);
              return wrong == 0 && status == 0 ? 0 : 1;
            }),
            0);
}

TEST_F(ConnectDoorsTest, LeadAProgramThatIsInterruptedAllTheTime) {
  Listen();
  EXPECT_EQ(Run([] {
              struct sigaction ignored{};
              ignored.sa_handler = [](int) {};
              ignored.sa_flags = SA_RESTART;
              sigaction(SIGALRM, &ignored, nullptr);
              const itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 100},
                                    .it_value = {.tv_sec = 0, .tv_usec = 100}};
              setitimer(ITIMER_REAL, &often, nullptr);
              for (int times = 0; times < 500; ++times)
                if (const int error = Connect(Socket().get(), Address(kFront, kTls)); error != 0)
                  return error;
              return 0;
            }),
            0);
}

TEST_F(ConnectDoorsTest, WaitForAServerThatIsSlow) {
  Listen(0);  // a backlog of one: the next connection waits
  ConnectDoors doors = Doors();
  Start(doors, [] {
    const UniqueFd first = Socket();
    if (Connect(first.get(), Address(kFront, kTls)) != 0) return 201;
    const UniqueFd second = Socket();
    return Connect(second.get(), Address(kFront, kTls));
  });
  const auto waits_for = [&doors] {
    std::vector<pollfd> waiting;
    doors.AddTo(waiting);
    return waiting.size();
  };
  while (waits_for() < 2 && ServeOnce(doors)) {  // the questions, and the second connection
  }
  EXPECT_EQ(waits_for(), 2U);
  const UniqueFd first(accept(server_.get(), nullptr, nullptr));
  const UniqueFd second(accept(server_.get(), nullptr, nullptr));  // once the kernel tries again
  while (ServeOnce(doors)) {
  }
  EXPECT_EQ(Reap(), 0);
}

TEST_F(ConnectDoorsTest, ForgetWhoEnds) {
  Listen(0);
  ConnectDoors doors = Doors();
  Start(doors, [] {
    const UniqueFd first = Socket();
    if (Connect(first.get(), Address(kFront, kTls)) != 0) return 201;
    return Connect(Socket().get(), Address(kFront, kTls));
  });
  const auto waiting = [&doors] {
    std::vector<pollfd> all;
    doors.AddTo(all);
    return all;
  };
  while (waiting().size() < 2 && ServeOnce(doors)) {
  }
  kill(program_, SIGKILL);
  EXPECT_EQ(Reap(), -SIGKILL);
  const UniqueFd first(accept(server_.get(), nullptr, nullptr));
  while (!waiting().empty()) {  // the connection that nobody wants, and the questions' end
    std::vector<pollfd> ready = waiting();
    poll(ready.data(), ready.size(), -1);
    doors.Serve(ready);
  }
}

TEST_F(ConnectDoorsTest, AreRefusedWhereAnotherListens) {
  ConnectDoors doors = Doors();
  ConnectDoors more = Doors();
  program_ = fork();
  if (program_ == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    doors.Install();
    more.Install();
    _exit(0);
  }
  EXPECT_EQ(doors.Receive(), 0);
  EXPECT_EQ(more.Receive(), EBUSY);
  EXPECT_EQ(Reap(), 0);
}

TEST_F(ConnectDoorsTest, AreMissedWhereTheProgramNeverCame) {
  ConnectDoors doors = Doors();
  program_ = fork();
  if (program_ == 0) _exit(0);
  EXPECT_NE(doors.Receive(), 0);
  EXPECT_EQ(Reap(), 0);
}

TEST(ConnectDoors, AreNothingWithoutDoors) {
  ConnectDoors doors({});
  doors.Install();
  EXPECT_EQ(doors.Receive(), 0);
  std::vector<pollfd> waiting;
  doors.AddTo(waiting);
  EXPECT_TRUE(waiting.empty());
  doors.Serve(waiting);
  EXPECT_EQ(prctl(PR_GET_SECCOMP), 0);
}

#if defined(__x86_64__)
/// A system call as a 32-bit program makes it.
long Call32(long number, long first, long second, long third) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(first), "c"(second), "d"(third)
               : "memory", "r8", "r9", "r10", "r11");
  return static_cast<int>(result);
}

TEST_F(ConnectDoorsTest, LeadA32BitProgram) {
  Listen();
  constexpr long kGetpid = 20;
  if (Call32(kGetpid, 0, 0, 0) != getpid()) GTEST_SKIP() << "this kernel runs no 32-bit programs";
  void* low = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  ASSERT_NE(low, MAP_FAILED);
  EXPECT_EQ(Run([low] {
              const sockaddr_in front = Address(kFront, kTls);
              auto* words = static_cast<std::uint32_t*>(low);
              std::memcpy(words + 4, &front, sizeof(front));
              const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(words + 4));
              const UniqueFd socket = Socket();
              if (Call32(362, socket.get(), address, sizeof(front)) != 0) return 201;
              const UniqueFd other = Socket();
              words[0] = static_cast<std::uint32_t>(other.get());
              words[1] = address;
              words[2] = sizeof(front);
              const auto arguments = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(words));
              if (Call32(102, 3, arguments, 0) != 0) return 202;
              words[0] = static_cast<std::uint32_t>(Socket().get());  // closed again
              return Call32(102, 3, arguments, 0) == -EBADF ? 0 : 203;
            }),
            0);
  munmap(low, 4096);
}
#endif

}  // namespace
}  // namespace trainyard::replica
