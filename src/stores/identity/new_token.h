#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "rules/iam/login.h"
#include "trainyard/identity/v1/identity.pb.h"

/// Credentials as they are asked for, and as they are made.
namespace trainyard::identity {

using iam::Login;

/// NewToken::issuer of a token that a login was exchanged for: what ends the login's credential ends the
/// token.
[[nodiscard]] std::string IssuerOf(const Login& login);

/// Whether who asks for a change still may: asked when nothing can come between the answer and the change, so
/// that no revocation is outrun. Null: nobody was asked who they are.
using StillMay = std::function<boost::asio::awaitable<bool>()>;

struct NewToken {
  std::string principal;
  std::optional<std::chrono::seconds> life;
  std::string description;
  std::string issuer;     ///< who asked for it: a principal, or IssuerOf its login
  bool browser = false;   ///< for Identities::CheckSession, and refused by Check
  std::string through{};  ///< IssuerOf the login of an issuer that may be the principal, a service account
  StillMay still_may{};
};

struct MadeToken {
  std::string text;
  v1::Token token;
};

/// What a signed assertion proves.
struct Assertion {
  std::string principal;
  std::string key_id;           ///< for NewToken::issuer: "key K"
  std::string target_audience;  ///< not empty: an identity token is asked for
};

struct IdToken {
  std::string email;
  std::string audience;
  bool include_email = false;
  std::string issuer;  ///< "https://yard.example:8443"
  StillMay still_may{};
};

}  // namespace trainyard::identity
