// JSON Web Tokens: what is read has one spelling and the three parts; no text verifies that was not signed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text/base64.h"
#include "stores/identity/jwt.h"

namespace {

using namespace trainyard;

const identity::RsaPrivateKey& Key() {
  static const identity::RsaPrivateKey kKey = [] {
    Result<identity::RsaPrivateKey> key = identity::RsaPrivateKey::Generate();
    TY_CHECK(key.has_value());
    return *std::move(key);
  }();
  return kKey;
}

std::string Part(std::string_view bytes) { return text::Base64(bytes, text::Base64Form::kUrlBare); }

void CheckRead(std::string_view text) {
  const Result<identity::Jwt> jwt = identity::ParseJwt(text);
  TY_CHECK(jwt.has_value() || jwt.error().code == Code::kInvalidArgument);
  if (!jwt) return;
  TY_CHECK(text.size() <= identity::kJwtBytesMax && identity::LooksLikeJwt(text));
  TY_CHECK(!jwt->issuer.empty() && !jwt->signature.empty());
  TY_CHECK(jwt->signed_text + "." + Part(jwt->signature) == text);
  TY_CHECK(!jwt->IsSignedBy(Key().Public()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckRead(text);
  // The same bytes as what stands inside: as a payload, then as header and payload.
  CheckRead(Part(R"({"alg":"RS256"})") + "." + Part(text) + ".AAAA");
  const std::size_t end = text.find('\n');
  if (end != std::string_view::npos)
    CheckRead(Part(text.substr(0, end)) + "." + Part(text.substr(end + 1)) + ".AAAA");
  return 0;
}
