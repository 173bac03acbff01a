#include "logs/log_tails.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "async/event.h"
#include "async/on_pool.h"
#include "logs/tail_query.h"
#include "logs/tail_reader.h"
#include "wire/json.h"

namespace trainyard::logs {

namespace {

constexpr std::int64_t kAnyJob = 0;  // no job has it
constexpr std::size_t kPagesShared = 16;

/// A page as it is sent.
struct PrintedPage {
  std::shared_ptr<const std::string> response;  ///< null without entries
  std::string cursor;                           ///< empty without entries
  TailPosition position;
  bool caught_up = false;
  std::optional<std::int64_t> job_uid;
};

/// Reads and prints; keeps the last pages for those who ask the same. Used on the reading thread only.
class PagePrinter {
 public:
  explicit PagePrinter(std::unique_ptr<TailReader> reader) : reader_(std::move(reader)) {}

  Result<TailPosition> Start(const LogQuery& query, std::string_view cursor) {
    return reader_->Start(query, cursor);
  }

  Result<PrintedPage> Read(const LogQuery& query, TailPosition from) {
    for (const Shared& shared : shared_) {
      if (shared.page.response && shared.from == from && shared.context == query.page_token_context)
        return shared.page;
    }
    TY_TRY(TailPage page, reader_->Read(query, from));
    PrintedPage printed{.response = nullptr,
                        .cursor = {},
                        .position = page.position,
                        .caught_up = page.caught_up,
                        .job_uid = page.job_uid};
    if (page.entries.empty()) return printed;
    logging::v2::TailLogEntriesResponse response;
    response.mutable_entries()->Reserve(static_cast<int>(page.entries.size()));
    for (logging::v2::LogEntry& entry : page.entries) *response.add_entries() = std::move(entry);
    printed.response = std::make_shared<const std::string>(wire::PrintJsonCompact(response));
    printed.cursor = reader_->Seal(query, page.position);
    shared_[next_shared_++ % kPagesShared] = {query.page_token_context, from, printed};
    return printed;
  }

 private:
  struct Shared {
    std::string context;
    TailPosition from;
    PrintedPage page;
  };
  std::unique_ptr<TailReader> reader_;
  std::array<Shared, kPagesShared> shared_;
  std::size_t next_shared_ = 0;
};

}  // namespace

struct LogTails::Impl {
  Impl(asio::any_io_executor the_loop, LogStore& the_store, std::unique_ptr<TailReader> reader)
      : loop(std::move(the_loop)), store(the_store), pages(std::move(reader)) {
    store.OnAppended([this](std::int64_t job_uid) { Wake(job_uid); });
  }
  ~Impl() {
    store.OnAppended(nullptr);
    reads.join();
  }
  void Wake(std::int64_t job_uid);

  asio::any_io_executor loop;
  LogStore& store;
  PagePrinter pages;                        ///< used on `reads` only
  std::multimap<std::int64_t, Live*> live;  ///< by the job that the tail waits for
  asio::thread_pool reads{1};
};

class LogTails::Live final : public Tail {
 public:
  Live(Impl& tails, std::shared_ptr<const LogQuery> query, TailPosition position)
      : tails_(tails),
        query_(std::move(query)),
        position_(position),
        wake_(tails.loop),
        listed_(tails.live.emplace(kAnyJob, this)) {}
  ~Live() override { tails_.live.erase(listed_); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  void Wake() { wake_.Set(); }

  asio::awaitable<Result<TailBatch>> Next(std::chrono::steady_clock::duration wait_max) override {
    const auto give_up_at = std::chrono::steady_clock::now() + wait_max;
    for (;;) {
      if (caught_up_ && !co_await wake_.WaitFor(give_up_at - std::chrono::steady_clock::now()))
        co_return TailBatch{};
      wake_.Reset();
      auto read = [&pages = tails_.pages, query = query_, from = position_] {
        return pages.Read(*query, from);
      };
      TY_CO_TRY(PrintedPage page, co_await OnPool(tails_.reads, std::move(read)));
      position_ = page.position;
      caught_up_ = page.caught_up;
      WaitFor(page.job_uid.value_or(kAnyJob));
      if (page.response) co_return TailBatch{std::move(page.response), std::move(page.cursor), !caught_up_};
    }
  }

 private:
  void WaitFor(std::int64_t job_uid) {
    if (listed_->first == job_uid) return;
    tails_.live.erase(listed_);
    listed_ = tails_.live.emplace(job_uid, this);
    // What was stored between the read and now woke those who were listed.
    if (caught_up_) caught_up_ = false;
  }

  Impl& tails_;
  const std::shared_ptr<const LogQuery> query_;  ///< shared with a read that outlives a cancelled call
  TailPosition position_;
  bool caught_up_ = false;
  Event wake_;
  std::multimap<std::int64_t, Live*>::iterator listed_;
};

void LogTails::Impl::Wake(std::int64_t job_uid) {
  for (const std::int64_t listed : {job_uid, kAnyJob}) {
    const auto [first, last] = live.equal_range(listed);
    for (auto tail = first; tail != last; ++tail) tail->second->Wake();
  }
}

LogTails::LogTails(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LogTails::~LogTails() = default;

Result<std::unique_ptr<LogTails>> LogTails::Open(asio::any_io_executor loop, LogStore& store,
                                                 const std::string& path) {
  TY_TRY(std::unique_ptr<TailReader> reader, TailReader::Open(path));
  auto impl = std::make_unique<Impl>(std::move(loop), store, std::move(reader));
  return std::unique_ptr<LogTails>(new LogTails(std::move(impl)));
}

asio::awaitable<Result<std::shared_ptr<Tail>>> LogTails::Start(logging::v2::TailLogEntriesRequest request,
                                                               std::string cursor) {
  TY_CO_TRY(LogQuery parsed, ParseTailQuery(request));
  const auto query = std::make_shared<const LogQuery>(std::move(parsed));
  auto start = [&pages = impl_->pages, query, cursor = std::move(cursor)] {
    return pages.Start(*query, cursor);
  };
  TY_CO_TRY(const TailPosition position, co_await OnPool(impl_->reads, std::move(start)));
  co_return std::make_shared<Live>(*impl_, query, position);
}

}  // namespace trainyard::logs
