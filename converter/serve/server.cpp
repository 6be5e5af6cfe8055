#include "serve/server.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/status_error.h"
#include "serve/http.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;

/// Raises the limit of file descriptors, of which each connection needs one.
void raise_descriptors(uint32_t connections) {
  constexpr rlim_t kOthers = 64;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, connections + kOthers));
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::unique_ptr<Worker>> open_all(const ServerOptions& options, Metrics* metrics) {
  std::vector<std::unique_ptr<Worker>> models;
  for (const std::string& file : options.files) {
    models.push_back(std::make_unique<Worker>(file, options.worker, metrics));
    for (size_t i = 0; i + 1 < models.size(); ++i) {
      if (models[i]->name() != models.back()->name()) continue;
      fail(ExitCode::kUsage, "{}: another file is called {} already; rename one, names are how requests choose", file,
           models[i]->name());
    }
  }
  return models;
}

std::vector<std::unique_ptr<ServedIndex>> open_indexes(const std::vector<std::string>& paths,
                                                       const std::vector<std::unique_ptr<Worker>>& models) {
  std::vector<std::unique_ptr<ServedIndex>> indexes;
  for (const std::string& path : paths) {
    indexes.push_back(std::make_unique<ServedIndex>(path, models));
    for (size_t i = 0; i + 1 < indexes.size(); ++i) {
      if (indexes[i]->name() != indexes.back()->name()) continue;
      fail(ExitCode::kUsage,
           "--index {}: another index is called {} already; rename one, names are how requests choose", path,
           indexes[i]->name());
    }
  }
  return indexes;
}

}  // namespace

void serve(const ServerOptions& options, const std::function<void(const std::string& address)>& listening) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);  // all threads inherit this mask; sigwait receives the signals
  raise_descriptors(options.connections);
  Metrics metrics;
  std::vector<std::unique_ptr<Worker>> models = open_all(options, &metrics);
  std::vector<std::unique_ptr<ServedIndex>> indexes = open_indexes(options.indexes, models);
  Routes routes(std::move(models), std::move(indexes), &metrics);
  std::optional<Listener> listener;
  options.unix_path.empty() ? listener.emplace(options.host, options.port) : listener.emplace(options.unix_path);
  const HttpServer server(options, &*listener, &routes, &metrics);
  listening(listener->address());
  int signal = 0;
  sigwait(&stop, &signal);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // a second signal ends the process at once
}

}  // namespace bantam::serve
