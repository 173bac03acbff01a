#include "api/ml/ml_handlers.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <string>

namespace trainyard::api {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

std::optional<control::Instance> WithTpu() {
  return control::Instance{
      .project = "p",
      .project_number = 992'253'321'583,
      .zone = "us-central1-b",
      .name = "n",
      .machine_type = "m",
      .address = "a",
      .runtime_version = "2.2",
      .tpu = control::Instance::Tpu{.node_name = "cmle-training-0-tpu", .accelerator_type = "v2-8"}};
}

Result<std::string> Get(const std::string& path,
                        const Result<std::optional<control::Instance>>& asking = WithTpu()) {
  http::Router router;
  AskingInstance ask =
      [&](const http::Request&) -> asio::awaitable<Result<std::optional<control::Instance>>> {
    co_return asking;
  };
  AddRoutes(router, MlRoutes(), Where::kReplicas, {Lend(ask)});
  http::Request request;
  request.target = request.path = path;
  TY_TRY(const http::Handler* handler, router.Find(request));
  asio::io_context loop;
  Result<http::Response> response = std::unexpected(Internal("no answer"));
  asio::co_spawn(loop, (*handler)(request),
                 [&](std::exception_ptr, Result<http::Response> answer) { response = std::move(answer); });
  loop.run();
  if (!response) return std::unexpected(response.error());
  return std::get<std::string>(response->body);
}

const std::string kNodes = "/v1/projects/p/locations/us-central1-b/nodes";

json::value Expected() {
  return json::parse(R"json({
      "name": "projects/p/locations/us-central1-b/nodes/cmle-training-0-tpu",
      "description":
        "Chips of the replica's own machine. They have no network endpoint: use TPUClusterResolver('local')",
      "acceleratorType": "v2-8", "state": "READY", "health": "HEALTHY", "networkEndpoints": [],
      "apiVersion": "V1", "tensorflowVersion": "2.2"})json");
}

TEST(TpuNodes, TheReplicasOwnIsReady) {
  EXPECT_EQ(json::parse(Get(kNodes + "/cmle-training-0-tpu").value()), Expected());
  EXPECT_EQ(
      json::parse(Get("/v1/projects/992253321583/locations/us-central1-b/nodes/cmle-training-0-tpu").value()),
      Expected())
      << "the project's number";
  EXPECT_EQ(json::parse(Get(kNodes).value()).at_pointer("/nodes/0"), Expected());
  EXPECT_EQ(json::parse(Get("/v1/projects/p/locations/-/nodes").value()).at_pointer("/nodes/0"), Expected());
}

TEST(TpuNodes, AnImageHasNoVersionThatWeKnow) {
  auto instance = WithTpu();
  instance->runtime_version.clear();
  EXPECT_FALSE(json::parse(Get(kNodes + "/cmle-training-0-tpu", instance).value())
                   .as_object()
                   .contains("tensorflowVersion"));
}

TEST(TpuNodes, WhoCannotBeToldNowIsNotNobody) {
  const Result<std::optional<control::Instance>> unknown = std::unexpected(Unavailable("ask again"));
  EXPECT_EQ(Get(kNodes, unknown).error(), Unavailable("ask again"));
  EXPECT_EQ(Get(kNodes + "/cmle-training-0-tpu", unknown).error(), Unavailable("ask again"));
}

TEST(TpuNodes, AllOthersAreNotFoundInGooglesWords) {
  auto without = WithTpu();
  without->tpu.reset();
  const std::string own = kNodes + "/cmle-training-0-tpu";
  EXPECT_EQ(Get(kNodes + "/other").error(),
            NotFound("Resource 'projects/p/locations/us-central1-b/nodes/other' was not found"));
  EXPECT_FALSE(Get(own, without));
  EXPECT_FALSE(Get(own, std::nullopt));
  EXPECT_FALSE(Get("/v1/projects/q/locations/us-central1-b/nodes/cmle-training-0-tpu"));
  EXPECT_FALSE(Get("/v1/projects/p/locations/us-central1-a/nodes/cmle-training-0-tpu"));
  EXPECT_EQ(Get(kNodes, without), "{}");
  EXPECT_EQ(Get("/v1/projects/p/locations/us-central1-a/nodes"), "{}");
}

}  // namespace
}  // namespace trainyard::api
