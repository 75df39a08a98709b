#include "launch/transcript_file.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "isa/rows.h"
#include "isa/tokens.h"

namespace qwengpu::launch {
namespace {

using isa::TokenKind;

constexpr std::string_view signature = "qwengpu-transcript 1\n";
constexpr std::string_view prompt_mark = "\nprompt:\n", transcript_mark = "\ntranscript:\n";

// Everything about the kernel except its code and its variables, which the prompt holds.
nlohmann::json to_json(const isa::Kernel& kernel, const std::string& written_by, int launch) {
  nlohmann::json parameters = nlohmann::json::array(), lines = nlohmann::json::array();
  for (const isa::KernelParameter& p : kernel.parameters)
    parameters.push_back({p.name, p.ptx_type, p.offset, p.bytes, p.pointer});
  for (const isa::SourceLine& line : kernel.lines) lines.push_back({line.file, line.line});
  return {{"kernel", kernel.name},
          {"written by", written_by},
          {"launch", launch},
          {"registers", kernel.registers},
          {"parameters", parameters},
          {"lines", lines},
          {"parameter bytes", kernel.parameter_bytes},
          {"shared", kernel.shared_bytes},
          {"local", kernel.local_bytes},
          {"named barriers", kernel.named_barriers}};
}

void from_json(const nlohmann::json& json, Transcript& transcript) {
  isa::Kernel& kernel = transcript.kernel;
  kernel.name = json.at("kernel");
  transcript.written_by = json.at("written by");
  transcript.launch = json.value("launch", 1);
  kernel.registers = json.at("registers");
  kernel.parameter_bytes = json.at("parameter bytes");
  kernel.shared_bytes = json.at("shared");
  kernel.local_bytes = json.at("local");
  kernel.named_barriers = json.at("named barriers");
  for (const nlohmann::json& p : json.at("parameters")) {
    isa::KernelParameter parameter;
    parameter.name = p.at(0);
    parameter.ptx_type = p.at(1);
    parameter.offset = p.at(2);
    parameter.bytes = p.at(3);
    parameter.pointer = p.at(4);
    kernel.parameters.push_back(parameter);
  }
  for (const nlohmann::json& line : json.at("lines")) kernel.lines.push_back({line.at(0), line.at(1)});
}

// The instruction rows of a prompt.
std::vector<isa::Instruction> code_of(const std::vector<int>& prompt) {
  std::vector<isa::Instruction> code;
  for (std::size_t at = 0; at < prompt.size(); ++at) {
    const isa::Token& mark = isa::token_of(prompt[at]);
    if (mark.kind != TokenKind::Instruction) continue;
    isa::RowReader row;
    while (!row.complete())
      if (++at == prompt.size() || !row.push(isa::token_of(prompt[at])))
        throw std::invalid_argument("a row of the prompt is damaged");
    if (static_cast<std::size_t>(mark.a) != code.size())
      throw std::invalid_argument("the instructions of the prompt are not in order");
    code.push_back(isa::decode(row.row()));
  }
  return code;
}

bool starts_line(int token) {
  switch (isa::token_of(token).kind) {
    case TokenKind::Quad:
    case TokenKind::System:
    case TokenKind::Pc:
    case TokenKind::FirmwarePc:
    case TokenKind::Meet:
    case TokenKind::MeetNone:
    case TokenKind::ReleaseKind:
    case TokenKind::Stuck:
    case TokenKind::Instruction:
    case TokenKind::HostLine:
    case TokenKind::Go:
    case TokenKind::End:
      return true;
    default:
      return false;
  }
}

}  // namespace

TranscriptWriter::TranscriptWriter(const std::filesystem::path& path, const isa::Kernel& kernel,
                                   const std::string& written_by, const std::vector<int>& prompt, int launch)
    : path_(path), file_(path) {
  file_ << signature << to_json(kernel, written_by, launch).dump() << prompt_mark;
  for (bool first = true; int token : prompt) {
    if (!first && starts_line(token)) file_ << '\n';
    file_ << isa::spelling(token);
    first = false;
  }
  file_ << transcript_mark << std::flush;
  check();
}

void TranscriptWriter::push(int token) {
  // Whole lines reach the file, so that it can be followed while it grows.
  if (starts_line(token)) file_ << std::endl;
  file_ << isa::spelling(token);
}

void TranscriptWriter::close() {
  file_ << std::endl;
  check();
}

void TranscriptWriter::check() const {
  if (!file_) throw std::runtime_error(fmt::format("{}: cannot be written", path_.string()));
}

Transcript read_transcript(const std::filesystem::path& path, bool partial) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto fail = [&](std::string_view what) {
    return std::runtime_error(fmt::format("{}: {}", path.string(), what));
  };

  std::string_view text = content;
  if (!text.starts_with(signature))
    throw fail("not a transcript; `qwengpu run --transcript FILE` writes one");
  const std::size_t prompt_at = text.find(prompt_mark), transcript_at = text.find(transcript_mark);
  if (prompt_at == std::string_view::npos || transcript_at == std::string_view::npos ||
      transcript_at < prompt_at)
    throw fail("the transcript is truncated before its first token");
  const std::string_view head = text.substr(signature.size(), prompt_at - signature.size());
  const std::string_view prompt =
      text.substr(prompt_at + prompt_mark.size(), transcript_at - prompt_at - prompt_mark.size());
  std::string_view tokens = text.substr(transcript_at + transcript_mark.size());
  // A file cut in the middle of a token: what is before it is still a transcript.
  if (partial && tokens.rfind('<') != std::string_view::npos &&
      tokens.find('>', tokens.rfind('<')) == std::string_view::npos)
    tokens = tokens.substr(0, tokens.rfind('<'));

  Transcript transcript;
  try {
    from_json(nlohmann::json::parse(head), transcript);
    transcript.prompt = isa::tokenize(prompt);
    transcript.kernel.code = code_of(transcript.prompt);
  } catch (const std::exception& error) {
    throw fail(fmt::format("the head of the transcript is damaged: {}", error.what()));
  }
  const std::string_view end = "<END>";
  const std::string_view last = tokens.substr(0, tokens.find_last_not_of(" \t\r\n") + 1);
  transcript.complete = last.ends_with(end);
  if (!transcript.complete && !partial)
    throw fail("the transcript is incomplete, it does not end with <END>; --partial reads what is there");
  try {
    transcript.tokens = isa::tokenize(tokens);
  } catch (const std::invalid_argument& error) {
    throw fail(fmt::format("the transcript is damaged: {}", error.what()));
  }
  return transcript;
}

}  // namespace qwengpu::launch
