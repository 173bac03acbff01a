#include "base/process/process_sockets.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/async/unique_fd.h"

namespace trainyard {
namespace {

using Owners = std::map<std::uint32_t, pid_t>;

std::uint32_t NumberOf(int socket) {
  struct stat about{};
  EXPECT_EQ(::fstat(socket, &about), 0);
  return static_cast<std::uint32_t>(about.st_ino);
}

TEST(ProcessSockets, AProcessHasThem) {
  UniqueFd own(::socket(AF_INET, SOCK_STREAM, 0));
  const UniqueFd other(::socket(AF_INET, SOCK_STREAM, 0));
  const std::uint32_t number = NumberOf(own.get());
  EXPECT_TRUE(HasSocket(::getpid(), number));
  EXPECT_EQ(FindSocketOwners({number, NumberOf(other.get())}).owners,
            (Owners{{number, ::getpid()}, {NumberOf(other.get()), ::getpid()}}));
  own.Reset();
  EXPECT_FALSE(HasSocket(::getpid(), number));
  EXPECT_EQ(FindSocketOwners({number}).owners, Owners());
  EXPECT_EQ(FindSocketOwners({}).owners, Owners());
}

TEST(ProcessSockets, AChildHasWhatItInherited) {
  UniqueFd own(::socket(AF_INET, SOCK_STREAM, 0));
  std::array<int, 2> stop{};
  ASSERT_EQ(::pipe(stop.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(stop[1]);
    char byte = 0;
    static_cast<void>(::read(stop[0], &byte, 1));
    ::_exit(0);
  }
  const std::uint32_t number = NumberOf(own.get());
  own.Reset();
  EXPECT_EQ(FindSocketOwners({number}).owners, (Owners{{number, child}}));
  EXPECT_EQ(FindSocketOwners({number}, {::getpid(), 0, child}).owners, (Owners{{number, child}}));
  ::close(stop[1]);
  ::waitpid(child, nullptr, 0);
  ::close(stop[0]);
}

}  // namespace
}  // namespace trainyard
