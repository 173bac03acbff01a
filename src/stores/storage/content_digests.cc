#include "stores/storage/content_digests.h"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/async/on_pool.h"
#include "base/check.h"
#include "base/text/hex.h"
#include "stores/storage/buckets_state.h"
#include "stores/storage/folder.h"
#include "stores/storage/hasher.h"

namespace trainyard::storage {
namespace {

class Sha256 {
 public:
  Sha256() { TY_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1); }
  Status Add(std::string_view bytes) {
    TY_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    return {};
  }
  std::string Hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    TY_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) hex += text::HexNumber(digest[i], 2);
    return hex;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

}  // namespace

asio::awaitable<Result<std::string>> ContentDigests::Of(OpenedObject opened) {
  const FileStamp& seen = opened.stamp;
  Key key(opened.resource.bucket(), opened.resource.name(), seen.size, seen.mtime_ns, seen.inode);
  if (const auto found = kept_.find(key); found != kept_.end()) co_return found->second;
  const auto from = std::make_shared<OpenedObject>(std::move(opened));  // shared with the pool
  const auto hash = std::make_shared<Sha256>();
  auto read = [from, hash](std::uint64_t offset, std::uint64_t length) {
    return ReadPieces(from->file.get(), offset, length,
                      [&hash](std::string_view piece) { return hash->Add(piece); });
  };
  asio::thread_pool& pool = from->stamp.size <= kSliceBytes ? pools_.small : pools_.large;
  TY_CO_RETURN_IF_ERROR(co_await InSlices(pool, from->stamp.size, read));
  TY_CO_TRY(const FileStamp after, StampOf(from->file.get()));
  if (after != from->stamp)
    co_return std::unexpected(Aborted("the object changed while it was read; try again"));
  std::string digest = hash->Hex();
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_.insert_or_assign(std::move(key), digest);
  co_return digest;
}

asio::awaitable<Result<std::string>> Sha256Of(Buckets& buckets, std::string bucket, std::string object) {
  Buckets::State& state = *buckets.state_;
  TY_CO_TRY(OpenedObject opened, co_await state.Open(std::move(bucket), std::move(object), {}));
  co_return co_await state.content.Of(std::move(opened));
}

}  // namespace trainyard::storage
