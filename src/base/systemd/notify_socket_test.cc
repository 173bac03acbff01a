#include "base/systemd/notify_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "base/async/unique_fd.h"
#include "base/async/unix_socket.h"

namespace trainyard::systemd {
namespace {

/// The service manager's side, on an abstract socket of this process.
class Manager {
 public:
  Manager() : name_("@trainyard-notify-test-" + std::to_string(getpid())) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    name_.copy(&address.sun_path[0], name_.size());
    address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    setenv("NOTIFY_SOCKET", name_.c_str(), 1);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { unsetenv("NOTIFY_SOCKET"); }

  std::string Receive(UniqueFd& descriptor) {
    std::array<std::byte, 256> bytes{};
    const std::ptrdiff_t size = ReceiveWithDescriptor(socket_.get(), bytes, descriptor);
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size < 0 ? 0 : size)};
  }

 private:
  std::string name_;
  UniqueFd socket_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST(NotifySocket, WithoutAManagerThereIsNobodyToTell) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(Notify(kNotifyReady));
}

TEST(NotifySocket, SendsStates) {
  Manager manager;
  UniqueFd none;
  ASSERT_TRUE(Notify(kNotifyReady));
  EXPECT_EQ(manager.Receive(none), "READY=1");
  ASSERT_TRUE(Notify(NotifyExtend(std::chrono::seconds(2))));
  EXPECT_EQ(manager.Receive(none), "EXTEND_TIMEOUT_USEC=2000000");
  EXPECT_FALSE(none);
}

TEST(NotifySocket, SendsDescriptorsToKeep) {
  Manager manager;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  ASSERT_TRUE(Notify(NotifyStore("api"), std::span(&ends[1], 1)));
  UniqueFd received;
  EXPECT_EQ(manager.Receive(received), "FDSTORE=1\nFDNAME=api");
  ASSERT_TRUE(received);
  ASSERT_EQ(write(received.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(reading.get(), &byte, 1), 1);
}

TEST(NotifySocket, SaysThatNobodyListens) {
  setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
  EXPECT_EQ(Notify(kNotifyReady).error().code, Code::kUnavailable);
  setenv("NOTIFY_SOCKET", "relative", 1);
  EXPECT_EQ(Notify(kNotifyReady).error().code, Code::kInvalidArgument);
  unsetenv("NOTIFY_SOCKET");
}

/// Waits for the manager's next message and returns it.
std::string Hear(int socket) {
  std::array<char, 256> text{};
  const ssize_t size = ::recv(socket, text.data(), text.size(), 0);
  return size < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(size));
}

TEST(Extension, AsksForMoreTimeWhileItLives) {
  const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string name = "@trainyard-extension-test-" + std::to_string(::getpid());
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(&address.sun_path[0], name.size());
  address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  {
    const StartExtension extension;
    EXPECT_EQ(Hear(manager.get()), "EXTEND_TIMEOUT_USEC=30000000");
  }
  ::unsetenv("NOTIFY_SOCKET");
  std::array<char, 1> more{};
  EXPECT_LT(::recv(manager.get(), more.data(), more.size(), MSG_DONTWAIT), 0) << "it is over";
}

TEST(Extension, WithoutAManagerHasNoEffect) {
  ::unsetenv("NOTIFY_SOCKET");
  const StartExtension extension;
}

}  // namespace
}  // namespace trainyard::systemd
