#pragma once

#include <string>

#include "base/check.h"
#include "base/text/base64.h"
#include "stores/identity/rsa_key.h"

namespace trainyard::identity {

/// A key made once per process: making one takes long.
inline const RsaPrivateKey& TestKey() {
  static const RsaPrivateKey kKey = [] {
    Result<RsaPrivateKey> key = RsaPrivateKey::Generate();
    TY_CHECK(key.has_value());
    return *std::move(key);
  }();
  return kKey;
}

inline std::string Url64(std::string_view bytes) { return text::Base64(bytes, text::Base64Form::kUrlBare); }

/// A JWT of any header and payload, honestly signed.
inline std::string Signed(const RsaPrivateKey& key, std::string_view header, std::string_view payload) {
  const std::string text = Url64(header) + "." + Url64(payload);
  return text + "." + Url64(key.Sign(text));
}

}  // namespace trainyard::identity
