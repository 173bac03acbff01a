#include "programs/runtimes/daemon_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

namespace trainyard::replica {
namespace {

/// A daemon with one container, which records its requests.
class OneContainer {
 public:
  OneContainer(const std::string& socket_path, const std::string& name)
      : listed_(R"([{"Names":["/)" + name + R"("]}])"), listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  /// Methods, in order.
  std::vector<std::string> Stop() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    return asked_;
  }

 private:
  void Serve() {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      std::string request;
      char byte = 0;
      while (!request.ends_with("\r\n\r\n") && ::read(client, &byte, 1) == 1) request += byte;
      asked_.push_back(request.substr(0, request.find(' ')));
      const std::string body = asked_.back() == "GET" ? listed_ : "";
      const std::string answer =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n\r\n" + body;
      static_cast<void>(::write(client, answer.data(), answer.size()));
    }
  }

  std::string listed_;
  int listener_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

/// The methods that the daemon is asked for if `life` is the answer about the attempt.
std::vector<std::string> AskedFor(const Result<bool>& life) {
  std::string folder = testing::TempDir() + "left.XXXXXX";
  EXPECT_NE(::mkdtemp(folder.data()), nullptr);
  const AttemptDir dir{folder + "/7-master-replica-0-1"};
  OneContainer daemon(folder + "/socket", ContainerName(dir));
  std::string judged;
  const Status removed = RemoveLeftContainers(folder + "/socket", folder, [&](const AttemptDir& asked) {
    judged = asked.path;
    return life;
  });
  EXPECT_EQ(removed.has_value(), life.has_value());
  EXPECT_EQ(judged, dir.path);
  std::filesystem::remove_all(folder);
  return daemon.Stop();
}

TEST(LeftContainers, AreRemovedOfWhatDoesNotLiveAlone) {
  using testing::ElementsAre;
  EXPECT_THAT(AskedFor(true), ElementsAre("GET")) << "whatever its directory looks like";
  EXPECT_THAT(AskedFor(std::unexpected(Unavailable("no descriptors"))), ElementsAre("GET"));
  EXPECT_THAT(AskedFor(false), ElementsAre("GET", "POST", "DELETE"));
}

}  // namespace
}  // namespace trainyard::replica
