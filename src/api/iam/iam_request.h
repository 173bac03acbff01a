#pragma once

#include <functional>
#include <string>

#include "api/system_parameters.h"
#include "base/wire/json.h"
#include "net/http/router.h"
#include "rules/iam/resource.h"
#include "stores/identity/identities.h"
#include "trainyard/iam/v1/policy.pb.h"

/// Common functions of the IAM handlers. Loop thread only.
namespace trainyard::api {

inline constexpr std::size_t kIamBodyBytesMax = 256
                                                << 10;  ///< policies: "a few 10s of KB" in Google's service

/// The request's body as a message.
template <class Message>
boost::asio::awaitable<Result<Message>> ReadMessage(http::Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kIamBodyBytesMax));
  Message message;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, message));
  co_return message;
}

/// Whether the caller still has the right, for changes of identities.
[[nodiscard]] identity::StillMay StillMayOf(const http::Request& request);

/// The service account that the path names by e-mail or unique id; the project in it may be "-". kNotFound.
[[nodiscard]] Result<identity::v1::ServiceAccount> AccountOf(identity::Identities& identities,
                                                             const http::Request& request);

}  // namespace trainyard::api
