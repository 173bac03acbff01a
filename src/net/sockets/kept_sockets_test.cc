#include "net/sockets/kept_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/async/unix_socket.h"

namespace trainyard::sockets {
namespace {

using systemd::KeptDescriptor;

constexpr const char* kHost = "127.0.0.1";

UniqueFd Copy(const http::ListeningSocket& socket) { return UniqueFd(::dup(socket.descriptor.get())); }

/// The sockets that an ended server left in the manager.
KeptSockets KeptOf(const std::vector<std::pair<std::string, const http::ListeningSocket*>>& sockets) {
  std::vector<KeptDescriptor> waiting;
  for (const auto& [name, socket] : sockets) waiting.push_back({.name = name, .descriptor = Copy(*socket)});
  return {true, std::move(waiting)};
}

bool Listens(int descriptor) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

/// Whether two descriptors are the same socket.
bool Same(const http::ListeningSocket& one, const http::ListeningSocket& other) {
  struct stat first{};
  struct stat second{};
  return ::fstat(one.descriptor.get(), &first) == 0 && ::fstat(other.descriptor.get(), &second) == 0 &&
         first.st_ino == second.st_ino;
}

class KeptSocketsTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("NOTIFY_SOCKET", "", 1); }  // no notifications are sent
  http::ListeningSocket previous_ = *http::ListenOnTcp(kHost, 0);
};

TEST_F(KeptSocketsTest, GivesTheKeptSocketOfTheAddress) {
  KeptSockets kept = KeptOf({{"tcp-127.0.0.1-1", &previous_}});
  const auto taken = kept.ListenOnTcp("localhost", previous_.port);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(Same(*taken, previous_));
  EXPECT_EQ(taken->port, previous_.port);
  kept.CloseTheRest();
  EXPECT_TRUE(Listens(taken->descriptor.get())) << "it was asked for";
}

TEST_F(KeptSocketsTest, TheFirstOfSeveralPortsMayBeAKeptOne) {
  KeptSockets kept = KeptOf({{"tcp-127.0.0.1-1", &previous_}});
  const auto taken = kept.ListenOnFirst(kHost, {0, previous_.port, 0});
  ASSERT_TRUE(taken);
  EXPECT_TRUE(Same(*taken, previous_));
}

TEST_F(KeptSocketsTest, AnotherAddressGetsASocketOfItsOwn) {
  KeptSockets kept = KeptOf({{"tcp-127.0.0.1-1", &previous_}});
  const auto taken = kept.ListenOnTcp("127.0.0.2", previous_.port);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(Same(*taken, previous_));
  EXPECT_TRUE(Listens(previous_.descriptor.get()));
}

TEST_F(KeptSocketsTest, ClosesWhatNobodyAskedFor) {
  KeptSockets kept = KeptOf({{"tcp-127.0.0.1-1", &previous_}});
  kept.CloseTheRest();
  EXPECT_FALSE(Listens(previous_.descriptor.get())) << "not even the manager's copy";
  EXPECT_TRUE(http::ListenOnTcp(kHost, previous_.port)) << "the address is free";
}

TEST_F(KeptSocketsTest, OneOfAllAddressesMakesRoomForOneOfThem) {
  const http::ListeningSocket all = *http::ListenOnTcp("0.0.0.0", 0);
  KeptSockets kept = KeptOf({{"tcp-0.0.0.0-1", &all}});
  const auto taken = kept.ListenOnTcp(kHost, all.port);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_FALSE(Listens(all.descriptor.get()));
}

TEST_F(KeptSocketsTest, APortOfAnotherProgramStaysRefused) {
  KeptSockets kept(true, {});
  EXPECT_EQ(kept.ListenOnTcp(kHost, previous_.port).error().code, Code::kAlreadyExists);
}

TEST_F(KeptSocketsTest, WhatIsNoListeningSocketIsClosedInTheEnd) {
  std::vector<KeptDescriptor> waiting;
  waiting.push_back({.name = "unknown", .descriptor = UniqueFd(::open("/dev/null", O_RDONLY))});
  KeptSockets kept(true, std::move(waiting));
  EXPECT_TRUE(kept.ListenOnTcp(kHost, 0));
  kept.CloseTheRest();
}

class KeptFiles : public KeptSocketsTest {
 protected:
  void SetUp() override {
    KeptSocketsTest::SetUp();
    folder_ = std::filesystem::temp_directory_path() / ("kept-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    file_ = folder_ / "admin.sock";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(KeptFiles, GivesTheKeptSocketOfTheFile) {
  const http::ListeningSocket previous = *http::ListenOnUnix(file_);
  KeptSockets kept = KeptOf({{"unix-admin.sock", &previous}});
  const auto taken = kept.ListenOnUnix(file_);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_TRUE(Same(*taken, previous));
  kept.CloseTheRest();
  EXPECT_TRUE(ConnectUnix(file_));
}

TEST_F(KeptFiles, ListensAnewWhereTheFileIsGone) {
  const http::ListeningSocket previous = *http::ListenOnUnix(file_);
  std::filesystem::remove(file_);
  KeptSockets kept = KeptOf({{"unix-admin.sock", &previous}});
  const auto taken = kept.ListenOnUnix(file_);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_FALSE(Same(*taken, previous));
  EXPECT_TRUE(ConnectUnix(file_));
}

TEST_F(KeptFiles, WithoutAKeptOneItListensThere) {
  KeptSockets kept(true, {});
  ASSERT_TRUE(kept.ListenOnUnix(file_));
}

}  // namespace
}  // namespace trainyard::sockets
