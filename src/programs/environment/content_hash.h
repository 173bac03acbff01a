#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "programs/environment/environment.h"

struct SHA256state_st;

namespace trainyard::environment {

/// SHA-256, for names that different projects share: what has one name has one content. OpenSSL's own
/// function, not by EVP, whose first digest costs a millisecond of a replica's start.
class ContentHash {
 public:
  ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) = delete;
  ~ContentHash();

  ContentHash& Add(std::string_view bytes);
  /// With its length, so that different lists of parts differ.
  ContentHash& AddPart(std::string_view part);
  /// 64 lower-case hexadecimal digits. Call once.
  [[nodiscard]] std::string Hex();

 private:
  std::unique_ptr<SHA256state_st> state_;
};

/// Whether the checksums of all packages are of their contents by SHA-256, as a server gives them now. Those
/// of an older one's jobs are not: they keep the layers that they have.
[[nodiscard]] bool AreByContent(const std::vector<EnvironmentRequest::Package>& packages);

/// Whether the file that was fetched is the one that the job was created with: it may have been replaced, and
/// a layer is others', too. kFailedPrecondition. Reads all of it.
[[nodiscard]] Status CheckContent(const EnvironmentRequest::Package& package, const std::string& file);

}  // namespace trainyard::environment
