#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "rules/iam/login.h"
#include "trainyard/identity/v1/identity.pb.h"

/// Requests for credentials, and their results.
namespace trainyard::identity {

using iam::Login;

/// The NewToken::issuer of a token that a login was exchanged for: when the login's credential ends, so does
/// the token.
[[nodiscard]] std::string IssuerOf(const Login& login);

/// Whether the caller of a change still has the right to it: checked when nothing can happen between the
/// answer and the change, so that a revocation always takes effect first. Null: callers are not
/// authenticated.
using StillMay = std::function<boost::asio::awaitable<bool>()>;

struct NewToken {
  std::string principal;
  std::optional<std::chrono::seconds> life;
  std::string description;
  std::string issuer;     ///< what asked for it: a principal, or IssuerOf its login
  bool browser = false;   ///< for Identities::CheckSession, and refused by Check
  std::string through{};  ///< IssuerOf the login that made the token for a service account (the principal)
  StillMay still_may{};
};

struct MadeToken {
  std::string text;
  v1::Token token;
};

/// The result of a valid signed assertion.
struct Assertion {
  std::string principal;
  std::string key_id;           ///< for NewToken::issuer: "key K"
  std::string target_audience;  ///< not empty: the client asks for an identity token
};

struct IdToken {
  std::string email;
  std::string audience;
  bool include_email = false;
  std::string issuer;  ///< "https://yard.example:8443"
  StillMay still_may{};
};

}  // namespace trainyard::identity
