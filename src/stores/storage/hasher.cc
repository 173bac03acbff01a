#include "stores/storage/hasher.h"

#include <openssl/evp.h>

#include <array>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <string_view>
#include <utility>

#include "base/async/event.h"
#include "base/async/on_pool.h"
#include "base/check.h"
#include "base/text/hex.h"
#include "stores/storage/checksum.h"
#include "stores/storage/folder.h"

namespace trainyard::storage {
namespace {

void SetDigests(OpenedObject& object, const Digests& digests) {
  object.resource.set_md5_hash(digests.md5_hash);
  object.resource.set_crc32c(digests.crc32c);
}

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

/// A read of a large file. Its end, for whatever reason, wakes the calls that wait for it.
class Hasher::Turn {
 public:
  Turn(std::shared_ptr<Running> running, Key key, asio::any_io_executor executor)
      : running_(std::move(running)), key_(std::move(key)) {
    running_->emplace(key_, std::make_shared<Event>(std::move(executor)));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    const auto found = running_->find(key_);
    const std::shared_ptr<Event> over = found->second;  // shared with the waiting calls
    running_->erase(found);
    over->Set();
  }

 private:
  std::shared_ptr<Running> running_;
  Key key_;
};

Hasher::Hasher(BucketFiles& names, asio::thread_pool& names_pool) : names_(names), names_pool_(names_pool) {}

Hasher::~Hasher() {
  small_.join();
  large_.join();
}

Hasher::Key Hasher::KeyOf(const OpenedObject& opened) {
  return {opened.resource.bucket(), opened.resource.name(), opened.stamp.size, opened.stamp.mtime_ns,
          opened.stamp.inode};
}

asio::awaitable<Result<OpenedObject>> Hasher::WithChecksums(OpenedObject opened) {
  while (!HasChecksums(opened.resource)) {
    if (opened.stamp.size <= kSliceBytes) {
      std::vector<OpenedObject> one;
      one.push_back(std::move(opened));
      TY_CO_TRY(one, co_await HashSmall(std::move(one)));
      co_return std::move(one.front());
    }
    const auto found = running_->find(KeyOf(opened));
    if (found == running_->end()) co_return co_await HashLarge(std::move(opened));
    const std::shared_ptr<Event> over = found->second;
    co_await over->Wait();
    // It is stored by now, unless the read was cancelled: then this call reads the file.
    auto look = [this, bucket = opened.resource.bucket(), object = opened.resource.name()] {
      return names_.OpenObject(bucket, object, {});
    };
    TY_CO_TRY(OpenedObject again, co_await OnPool(names_pool_, std::move(look)));
    if (again.stamp != opened.stamp) co_return std::unexpected(Aborted("the file changed while it was read"));
    opened = std::move(again);
  }
  co_return std::move(opened);
}

asio::awaitable<Result<OpenedObject>> Hasher::HashLarge(OpenedObject opened) {
  const Turn turn(running_, KeyOf(opened), co_await asio::this_coro::executor);
  const auto object = std::make_shared<OpenedObject>(std::move(opened));  // shared with the pool
  const auto checksum = std::make_shared<Checksum>();
  auto add = [object, checksum](std::uint64_t offset, std::uint64_t length) {
    return AddFile(*checksum, object->file.get(), offset, length);
  };
  TY_CO_RETURN_IF_ERROR(co_await InSlices(large_, object->stamp.size, add));
  SetDigests(*object, checksum->Get());
  std::vector<OpenedObject> one;
  one.push_back(std::move(*object));
  TY_CO_TRY(one, co_await Keep(std::move(one)));
  co_return std::move(one.front());
}

asio::awaitable<Result<std::vector<OpenedObject>>> Hasher::HashSmall(std::vector<OpenedObject> opened) {
  auto read = [opened = std::move(opened)]() mutable -> Result<std::vector<OpenedObject>> {
    for (OpenedObject& object : opened) {
      Checksum checksum;
      TY_RETURN_IF_ERROR(AddFile(checksum, object.file.get(), 0, object.stamp.size));
      SetDigests(object, checksum.Get());
    }
    return std::move(opened);
  };
  TY_CO_TRY(auto hashed, co_await OnPool(small_, std::move(read)));
  co_return co_await Keep(std::move(hashed));
}

asio::awaitable<Result<std::vector<OpenedObject>>> Hasher::Keep(std::vector<OpenedObject> hashed) {
  return OnPool(names_pool_,
                [this, hashed = std::move(hashed)]() mutable -> Result<std::vector<OpenedObject>> {
                  // If it cannot be stored (full disk), it is computed again next time.
                  [[maybe_unused]] const Status kept = names_.KeepChecksums(hashed);
                  return std::move(hashed);
                });
}

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

}  // namespace trainyard::storage
