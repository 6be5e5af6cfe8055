// serve: answers over HTTP.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "serve/server.h"

namespace bantam::cli {

namespace {

struct ServeArguments {
  uint32_t port = 8080;
  uint32_t max_body = 1024;  // KiB
  std::string key_file;
  serve::ServerOptions server;
};

void run_serve(const ServeArguments& arguments) {
  serve::ServerOptions options = arguments.server;
  options.port = static_cast<uint16_t>(arguments.port);
  options.max_body = size_t{arguments.max_body} * 1024;
  // The memory limit allows this many whole requests at a time, even large ones.
  constexpr uint64_t kWholeRequests = 16;
  options.most_held = std::max(options.most_held, kWholeRequests * options.max_body);
  if (!arguments.key_file.empty()) options.access.keys = serve::read_keys(arguments.key_file);
  const char* const key = std::getenv("BANTAM_API_KEY");
  if (key != nullptr && *key != 0) options.access.keys.emplace_back(key);
  serve::serve(options, [](const std::string& address) {
    if (!quiet()) out().print("Listening on {}\n", printable(address));
    out().flush();
  });
}

}  // namespace

void add_serve(Program& program) {
  auto arguments = std::make_shared<ServeArguments>();
  serve::ServerOptions& server = arguments->server;
  serve::WorkerOptions& worker = server.worker;
  worker.engine.batch = convert::kPacked;
  Command& command = program.add_command("serve", "Answer and generate texts over HTTP", kAnswerGroup);
  command.heading("Input");
  command
      .add_option("FILE", server.files, "FILE.bantam", "Model files; requests choose one by its name without .bantam")
      .required();
  command
      .add_option("--index", server.indexes, "FILE.index",
                  "Index for /search, written by bantam index with one of the files; may be given several times")
      .one_at_a_time();
  command.heading("Listening");
  command.add_option("--host", server.host, "ADDRESS", "Address to listen on (default 127.0.0.1: this machine only)");
  command.add_option("--port", arguments->port, "N", "TCP port (default 8080; 0: any free port, which is printed)",
                     between(0U, 65535U));
  command.add_option("--unix", server.unix_path, "PATH", "Listen on a Unix socket instead of a port");
  command.heading("Access");
  command.add_option("--api-key-file", arguments->key_file, "FILE",
                     "File with keys, one per line; each request must carry one of them (the environment variable "
                     "BANTAM_API_KEY adds a key)");
  command.add_option("--cors", server.access.origins, "ORIGIN",
                     "Origin whose pages may send requests and read answers, such as https://example.org; \"*\": all");
  command.add_option("--allow-host", server.access.hosts, "NAME",
                     "Host name that requests may use, besides localhost, when listening on 127.0.0.1 or ::1");
  command.heading("Limits");
  command.add_option("--queue", worker.queue, "N",
                     "Maximum waiting texts per file (default 4096); a request beyond them gets 429",
                     between(1U, 1000000U));
  command.add_option("--max-body", arguments->max_body, "KIB",
                     "Maximum body of a request in KiB (default 1024); larger ones get 413", between(1U, 1048576U));
  command.add_option("--timeout", server.timeout, "SECONDS",
                     "Seconds for a request to arrive, and for it to wait (default 30); 503 if it waits longer",
                     between(1U, 3600U));
  command.add_option("--connections", server.connections, "N", "Maximum number of open connections (default 4096)",
                     between(1U, 65536U));
  command.heading("Generating");
  command.add_option("--contexts", worker.contexts, "N",
                     "Number of texts that a file generates at once (default 8); further ones wait",
                     between(1U, 1024U));
  command.add_option("--context", worker.context, "N",
                     "Maximum tokens of a generated text, with its prompt (default: the model's maximum, but not over "
                     "2048)",
                     between(2U, 1U << 20));
  command.heading("Output");
  command.add_option("--top", worker.top, "N", "Give at most N labels or candidates (default 5; 0: all)");
  add_aggregation_option(command, &worker.aggregation);
  command.add_flag("--log", server.log, "Write a line to standard error for each reply: method, path, code, time");
  command.heading("Running");
  add_engine_options(command, &worker.engine);
  command.usual({"--index", "--host", "--port", "--unix", "--api-key-file", "--cors", "--top", "--log", "--threads"});
  command.footer(
      "Paths: POST /run, /classify, /tag, /answer, /embed, /fill, /rank, /rerank, /search; as in OpenAI's API "
      "/v1/chat/completions, /v1/completions and /v1/embeddings; GET /health, /metrics (Prometheus) and /v1/models. "
      "Bodies are JSON; answers "
      "are those of --json. SIGTERM and Ctrl-C end the server after it has answered all pending "
      "requests. The server has no TLS: put a proxy in front of it.\n\n"
      "Examples:\n"
      "  bantam serve voice.bantam --port 8080\n"
      "  curl http://127.0.0.1:8080/run -d @request.json\n"
      "  bantam serve minilm.bantam --index tickets.index\n"
      "  bantam serve assistant.bantam --contexts 16\n"
      "  bantam serve minilm.bantam voice.bantam --unix bantam.socket --threads 2");
  command.action([arguments] { run_serve(*arguments); });
}

}  // namespace bantam::cli
