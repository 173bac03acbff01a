#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>

#include "net/http/router.h"
#include "trainyard/control/v1/machine.pb.h"

namespace trainyard::api {

/// Who knows the machine. `images` blocks and is called on `pool`; all outlive the router.
struct MachineSource {
  std::function<boost::asio::awaitable<control::v1::MachineReport>()> report;
  std::function<boost::asio::awaitable<Result<control::v1::MachineHistory>>(std::chrono::hours)> history;
  std::function<control::v1::ImageList()> images;
  boost::asio::thread_pool& pool;
};

/// So far back the machine's use is kept.
inline constexpr int kHoursMax = 42 * 24;
inline constexpr int kHoursDefault = 24;

/// GET /trainyard/v1/machine, /trainyard/v1/machine/usage?hours= and /trainyard/v1/images
/// (control/v1/machine.proto), for everybody who has logged in. Names of buckets and of images, which others
/// chose, only for who has trainyard.server.get on the installation.
void AddMachineRoutes(http::Router& router, MachineSource source);

}  // namespace trainyard::api
