#include "stores/logs/log_store.h"

#include <map>
#include <span>
#include <utility>

#include "base/sqlite/full_disk.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_reader.h"
#include "stores/logs/log_writer.h"
#include "stores/store/group_commit.h"

namespace trainyard::logs {

namespace {

constexpr std::size_t kGroupChunksMax = 256;
/// Chunks erased in one transaction: appends wait for some ten milliseconds.
constexpr std::int64_t kEraseChunksMax = 200;

Result<LogPage> ReadPage(LogReader& reader, const logging::v2::ListLogEntriesRequest& request) {
  TY_TRY(const LogQuery query, ParseLogQuery(request));
  return reader.Read(query);
}

}  // namespace

struct LogStore::Impl {
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

LogStore::LogStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LogStore::LogStore(LogStore&&) noexcept = default;
LogStore::~LogStore() = default;

asio::thread_pool& LogStore::reads() noexcept { return impl_->reads; }
LogReader& LogStore::reader() noexcept { return *impl_->reader; }

Result<std::unique_ptr<LogStore>> LogStore::Open(asio::io_context& loop, const Clock& clock,
                                                 const std::string& path) {
  TY_TRY(std::unique_ptr<LogWriter> writer, LogWriter::Open(path, clock));
  TY_TRY(std::unique_ptr<LogReader> reader, LogReader::Open(path));
  auto impl = std::make_unique<Impl>(loop, std::move(writer), std::move(reader));
  return std::unique_ptr<LogStore>(new LogStore(std::move(impl)));
}

asio::awaitable<Result<StoredLines>> LogStore::Append(LogSource source, replica::v1::LogChunk chunk) {
  const std::int64_t job_uid = source.job_uid;
  AppendRequest request{std::move(source), std::move(chunk)};
  TY_CO_TRY(const Appended appended, co_await impl_->chunks.Submit(std::move(request)));
  if (appended.stored)
    for (const auto& [owner, observer] : impl_->observers) observer(job_uid);
  co_return StoredLines{.next_line = appended.next_line, .job_bytes = appended.job_bytes};
}

asio::awaitable<Result<std::int64_t>> LogStore::NextLine(std::int64_t job_uid, std::string source) {
  return Read([job_uid, source = std::move(source)](LogReader& r) { return r.NextLine(job_uid, source); });
}

asio::awaitable<Result<std::vector<std::int64_t>>> LogStore::NextLines(std::vector<std::int64_t> job_uids,
                                                                       std::string source) {
  auto read = [job_uids = std::move(job_uids),
               source = std::move(source)](LogReader& reader) -> Result<std::vector<std::int64_t>> {
    std::vector<std::int64_t> lines;
    lines.reserve(job_uids.size());
    for (const std::int64_t uid : job_uids) {
      TY_TRY(const std::int64_t next, reader.NextLine(uid, source));
      lines.push_back(next);
    }
    return lines;
  };
  return Read(std::move(read));
}

asio::awaitable<Result<LogPage>> LogStore::List(logging::v2::ListLogEntriesRequest request) {
  return Read([request = std::move(request)](LogReader& reader) { return ReadPage(reader, request); });
}

asio::awaitable<Result<ErasedLogs>> LogStore::Erase(std::vector<std::int64_t> job_uids) {
  const auto uids =
      std::make_shared<const std::vector<std::int64_t>>(std::move(job_uids));  // shared with the thread
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

asio::awaitable<Result<std::int64_t>> LogStore::Length(std::int64_t job_uid) {
  return Read([job_uid](LogReader& reader) { return reader.Length(job_uid); });
}

void LogStore::OnAppended(const void* owner, std::function<void(std::int64_t job_uid)> observer) {
  if (observer)
    impl_->observers[owner] = std::move(observer);
  else
    impl_->observers.erase(owner);
}

}  // namespace trainyard::logs
