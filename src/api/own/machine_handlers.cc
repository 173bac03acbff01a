#include "api/own/own_handlers.h"

#include <utility>

#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "net/access/caller.h"
#include "net/http/text.h"
#include "rules/iam/resource.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr const char* kABucket = "a bucket";

awaitable<bool> SeesNames(const Request& request) {
  iam::Resource all = iam::Resource::Installation();
  const Status may = co_await access::Require(request, "trainyard.server.get", std::move(all));
  co_return may.has_value();
}

Result<std::chrono::hours> HoursOf(const Request& request) {
  if (!request.HasQuery("hours")) return std::chrono::hours(kHoursDefault);
  const std::optional<std::uint64_t> hours = http::ParseDecimal(request.Query("hours"));
  if (!hours || *hours < 1 || *hours > kHoursMax)
    return std::unexpected(
        InvalidArgument("hours", "It must be a number from 1 to " + std::to_string(kHoursMax)));
  return std::chrono::hours(*hours);
}

}  // namespace

awaitable<Result<Response>> GetMachine(const MachineSource& source, Request& request) {
  control::v1::MachineReport report = co_await source.report();
  if (!co_await SeesNames(request)) {
    for (auto& disk : *report.mutable_disks()) {
      disk.clear_path();
      for (std::string& holds : *disk.mutable_holds()) {
        if (holds.starts_with("bucket ")) holds = kABucket;
      }
    }
  }
  co_return Response::Json(wire::PrintJson(report));
}

awaitable<Result<Response>> GetMachineUsage(const MachineSource& source, Request& request) {
  TY_CO_TRY(const std::chrono::hours hours, HoursOf(request));
  TY_CO_TRY(const control::v1::MachineHistory history, co_await source.history(hours));
  co_return Response::Json(wire::PrintJsonCompact(history) + "\n");
}

awaitable<Result<Response>> ListImages(const MachineSource& source, Request& request) {
  auto list = source.images;
  control::v1::ImageList images = co_await OnPool(source.pool, std::move(list));
  if (!co_await SeesNames(request)) {
    for (auto& image : *images.mutable_images()) image.clear_reference();
  }
  co_return Response::Json(wire::PrintJson(images));
}

}  // namespace trainyard::api
