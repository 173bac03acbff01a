#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "programs/image/reference.h"

struct evp_md_ctx_st;

namespace trainyard::image {

/// SHA-256 of the added bytes, in the form of a digest: "sha256:...". One thread.
class Digester {
 public:
  Digester();
  Digester(Digester&&) noexcept = default;
  Digester& operator=(Digester&&) noexcept = default;
  ~Digester() = default;

  void Add(std::string_view bytes);
  /// Call once.
  [[nodiscard]] std::string Finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

[[nodiscard]] std::string Sha256(std::string_view bytes);
/// The digest of a file, which may be large. Errors: those of open(2) and read(2).
[[nodiscard]] Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace trainyard::image
