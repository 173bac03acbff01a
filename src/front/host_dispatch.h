#pragma once

#include "front/google_names.h"
#include "http/router.h"

namespace trainyard::front {

/// Who answers for each service. All outlive the router that is made of them.
struct Services {
  const http::Router& storage;
  const http::Router& api;
  const http::Router& metadata;
};

/// A router that hands each request to the router of its Host field. Loop thread.
[[nodiscard]] http::Router DispatchByHost(Services services);

}  // namespace trainyard::front
