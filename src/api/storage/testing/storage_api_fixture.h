#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/route.h"
#include "api/storage/folder_handlers.h"
#include "api/storage/storage_handlers.h"
#include "base/async/system_clock.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/http/testing/listen.h"
#include "stores/identity/identities.h"

/// The storage API over real sockets and files, for the tests of its handlers.
namespace trainyard::api {

namespace asio = boost::asio;
namespace json = boost::json;
using http::ClientRequest;
using http::ClientResponse;
using http::Method;

/// A server of the storage API on a separate thread. May be destroyed and created again on the same
/// directory.
class Served {
 public:
  explicit Served(const std::filesystem::path& data) : Served(storage::Buckets::Options{.data = data}) {}
  explicit Served(storage::Buckets::Options options) {
    auto identities = identity::Identities::Open(
        loop_.get_executor(), clock_, {.path = options.data / "access.db", .default_project = "p"});
    EXPECT_TRUE(identities) << identities.error().message;
    identities_ = *std::move(identities);
    auto opened = storage::Buckets::Open(std::move(options), clock_, files_);
    EXPECT_TRUE(opened) << opened.error().message;
    buckets_ = *std::move(opened);
    AddRoutes(router_, StorageRoutes(), kOutside | Where::kStorageFront,
              {Lend(*buckets_), Lend(*identities_), Give(std::make_shared<Folders>(*buckets_))});
    AddRoutes(router_, SharedRoutes(), Where::kStorageFront, {Lend(router_)});
    AddStorageRefusals(router_);
    server_ = std::make_unique<http::Server>(loop_, router_);
    port_ = *http::Listen(*server_, "127.0.0.1");
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Served() {
    asio::post(loop_, [this] { server_->Stop(); });
    thread_.join();
    server_.reset();
    files_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  SystemClock clock_;
  asio::io_context loop_;
  asio::thread_pool files_{2};
  std::unique_ptr<storage::Buckets> buckets_;
  std::unique_ptr<identity::Identities> identities_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class StorageApi : public testing::Test {
 protected:
  StorageApi() {
    std::string pattern = (std::filesystem::temp_directory_path() / "storage_api.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    Start();
  }
  ~StorageApi() override {
    Stop();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void Start() {
    served_.emplace(folder_);
    client_.emplace(http::Endpoint{.host = "127.0.0.1", .port = served_->port()});
  }
  void Stop() {
    client_.reset();
    served_.reset();
  }

  using Fields = std::vector<std::pair<std::string, std::string>>;
  ClientResponse Send(Method method, std::string target, std::string body = {}, const Fields& headers = {}) {
    ClientRequest request{.method = method, .target = std::move(target), .body = std::move(body)};
    for (const auto& [name, value] : headers) request.headers.Add(name, value);
    auto response = client_->Send(std::move(request));
    EXPECT_TRUE(response) << response.error().message;
    return response.value_or(ClientResponse{});
  }
  ClientResponse Put(const std::string& name, std::string bytes, const std::string& more = {},
                     const Fields& headers = {}) {
    return Send(Method::kPost, "/upload/storage/v1/b/bucket/o?uploadType=media&name=" + name + more,
                std::move(bytes), headers);
  }
  ClientResponse Media(const std::string& name, const Fields& headers = {}) {
    return Send(Method::kGet, "/download/storage/v1/b/bucket/o/" + name + "?alt=media", {}, headers);
  }
  static std::string Text(const ClientResponse& response, const char* pointer) {
    boost::system::error_code failure;
    const json::value body = json::parse(response.body, failure);
    const json::value* value = failure ? nullptr : body.find_pointer(pointer, failure);
    if (value == nullptr) return "(absent)";
    return value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
  }
  /// Path and query of an upload's Location.
  std::string StartUpload(const std::string& name, const Fields& headers = {}) {
    const auto started =
        Send(Method::kPost, "/resumable/upload/storage/v1/b/bucket/o?uploadType=resumable&name=" + name, "{}",
             headers);
    EXPECT_EQ(started.status, 200) << started.body;
    const std::string location(started.headers.Get("Location"));
    return location.substr(location.find("/resumable"));
  }

  std::filesystem::path folder_;
  std::optional<Served> served_;
  std::optional<http::Client> client_;
};

}  // namespace trainyard::api
