#include "stores/logs/sqlite_log_store.h"

#include <map>
#include <span>
#include <utility>

#include "base/async/on_pool.h"
#include "base/sqlite/full_disk.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_reader.h"
#include "stores/logs/log_writer.h"
#include "stores/store/group_commit.h"

namespace trainyard::logs {

namespace {

constexpr std::size_t kGroupChunksMax = 256;
/// Erased in one transaction: some ten milliseconds that appends wait.
constexpr std::int64_t kEraseChunksMax = 200;

Result<LogPage> ReadPage(LogReader& reader, const logging::v2::ListLogEntriesRequest& request) {
  TY_TRY(const LogQuery query, ParseLogQuery(request));
  return reader.Read(query);
}

}  // namespace

struct SqliteLogStore::Impl {
  Impl(asio::io_context& loop, std::unique_ptr<LogWriter> the_writer, std::unique_ptr<LogReader> the_reader)
      : writer(std::move(the_writer)),
        reader(std::move(the_reader)),
        chunks(loop, kGroupChunksMax,
               [this](std::span<AppendRequest> group) { return writer->Append(group); }) {}
  ~Impl() { reads.join(); }

  std::unique_ptr<LogWriter> writer;  ///< used on the thread of `chunks` only
  std::unique_ptr<LogReader> reader;  ///< used on `reads` only
  std::map<const void*, std::function<void(std::int64_t)>> observers;  ///< by owner
  store::GroupCommit<AppendRequest, Appended> chunks;
  asio::thread_pool reads{1};
};

SqliteLogStore::SqliteLogStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SqliteLogStore::~SqliteLogStore() = default;

Result<std::unique_ptr<SqliteLogStore>> SqliteLogStore::Open(asio::io_context& loop, const Clock& clock,
                                                             const std::string& path) {
  TY_TRY(std::unique_ptr<LogWriter> writer, LogWriter::Open(path, clock));
  TY_TRY(std::unique_ptr<LogReader> reader, LogReader::Open(path));
  auto impl = std::make_unique<Impl>(loop, std::move(writer), std::move(reader));
  return std::unique_ptr<SqliteLogStore>(new SqliteLogStore(std::move(impl)));
}

asio::awaitable<Result<StoredLines>> SqliteLogStore::Append(LogSource source, replica::v1::LogChunk chunk) {
  const std::int64_t job_uid = source.job_uid;
  AppendRequest request{std::move(source), std::move(chunk)};
  TY_CO_TRY(const Appended appended, co_await impl_->chunks.Submit(std::move(request)));
  if (appended.stored)
    for (const auto& [owner, observer] : impl_->observers) observer(job_uid);
  co_return StoredLines{.next_line = appended.next_line, .job_bytes = appended.job_bytes};
}

asio::awaitable<Result<std::int64_t>> SqliteLogStore::NextLine(std::int64_t job_uid, std::string source) {
  auto read = [&reader = *impl_->reader, job_uid, source = std::move(source)] {
    return reader.NextLine(job_uid, source);
  };
  co_return co_await OnPool(impl_->reads, std::move(read));
}

asio::awaitable<Result<LogPage>> SqliteLogStore::List(logging::v2::ListLogEntriesRequest request) {
  auto read = [&reader = *impl_->reader, request = std::move(request)] { return ReadPage(reader, request); };
  co_return co_await OnPool(impl_->reads, std::move(read));
}

asio::awaitable<Result<std::map<std::string, std::int64_t>>> SqliteLogStore::ProjectBytes() {
  auto read = [&reader = *impl_->reader] { return reader.ProjectBytes(); };
  co_return co_await OnPool(impl_->reads, std::move(read));
}

asio::awaitable<Result<ErasedLogs>> SqliteLogStore::Erase(std::vector<std::int64_t> job_uids) {
  const auto uids =
      std::make_shared<const std::vector<std::int64_t>>(std::move(job_uids));  // with the thread
  ErasedLogs erased;
  for (;;) {
    auto erase = [&writer = *impl_->writer, uids] {
      const sqlite::MayMakeRoom room;
      return writer.Erase(*uids, kEraseChunksMax);
    };
    TY_CO_TRY(const LogWriter::ErasedStep step, co_await OnPool(impl_->chunks.thread(), std::move(erase)));
    erased.jobs += step.logs.jobs;
    erased.bytes += step.logs.bytes;
    if (step.done) co_return erased;
  }
}

asio::awaitable<Result<std::vector<OldLog>>> SqliteLogStore::Older(SysTime before, std::int64_t after_uid,
                                                                   int count) {
  auto read = [&reader = *impl_->reader, before, after_uid, count] {
    return reader.Older(before, after_uid, count);
  };
  co_return co_await OnPool(impl_->reads, std::move(read));
}

asio::awaitable<Result<std::int64_t>> SqliteLogStore::Length(std::int64_t job_uid) {
  auto read = [&reader = *impl_->reader, job_uid] { return reader.Length(job_uid); };
  co_return co_await OnPool(impl_->reads, std::move(read));
}

void SqliteLogStore::OnAppended(const void* owner, std::function<void(std::int64_t job_uid)> observer) {
  if (observer)
    impl_->observers[owner] = std::move(observer);
  else
    impl_->observers.erase(owner);
}

}  // namespace trainyard::logs
