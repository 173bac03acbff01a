#include "api/iam/identity_handlers.h"
#include "base/number.h"
#include "net/http/router.h"
#include "rules/cluster/project_number.h"
#include "stores/identity/identities.h"

namespace trainyard::api {
namespace {

/// The id of the project with that number; any other text as it is. The number is found by the e-mail of the
/// project's service agent.
std::string ProjectNamed(const identity::Identities& identities, std::string text) {
  const auto number = WholeNumber<std::int64_t>(text);
  if (!number || std::to_string(*number) != text) return text;
  const auto agent = identities.FindServiceAccount(cluster::ServiceAccount(*number));
  return agent ? agent->project_id() : text;
}

}  // namespace

void TakeProjectNumbers(http::Router& router, const identity::Identities& identities) {
  router.Wrap([&identities](const http::Router::RouteInfo&, http::Handler handler) -> http::Handler {
    return [&identities, handler = std::move(handler)](Request& request) {
      for (auto* fields : {&request.parameters, &request.query}) {
        for (auto& [name, value] : *fields)
          if (name == "project") value = ProjectNamed(identities, std::move(value));
      }
      return handler(request);
    };
  });
}

}  // namespace trainyard::api
