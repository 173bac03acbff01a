#include "base/systemd/start_extension.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/async/unique_fd.h"

namespace trainyard::systemd {
namespace {

/// What the manager hears next; waits for it.
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
