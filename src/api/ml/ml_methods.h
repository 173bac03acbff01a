#pragma once

#include <string_view>

#include "api/system_parameters.h"
#include "control/intake/request_quota.h"
#include "net/http/router.h"

namespace trainyard::api {

/// Registers methods of the ml API: each takes the parameters common to all methods and counts against its
/// project's quota. Needed only during registration; its arguments outlive the router. Loop thread.
class MlMethods {
 public:
  MlMethods(http::Router& router, control::RequestQuota& quota) : router_(router), quota_(quota) {}

  /// The pattern has a parameter {project}.
  void Add(http::Method verb, std::string_view pattern, MethodForm form, http::Handler handler,
           control::RequestQuota::Kind kind = control::RequestQuota::Kind::kOther);

 private:
  http::Router& router_;
  control::RequestQuota& quota_;
};

}  // namespace trainyard::api
