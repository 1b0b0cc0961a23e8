//! One connection's only stream: frames out, frames in, and how it ends.

use super::board::{self, ENDED, Farewell, Known, Orders, REFUSED, Shared};
use crate::wire::{Frame, HEADER, Header, WireError};
use ::iroh::endpoint::{
    Connection, ConnectionError, ReadError, ReadExactError, RecvStream, SendStream, WriteError,
};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

/// A connection with the stream that both sides opened and accepted.
pub(super) struct Link {
    pub(super) connection: Connection,
    pub(super) out: SendStream,
    pub(super) input: RecvStream,
}

/// Why a link ends.
enum End {
    /// This side hung up and has sent what was queued.
    HungUp,
    /// The other side has said all it had to say.
    Finished,
    /// The connection broke.
    Lost(String),
    /// The other side sent something that is not a frame for us.
    Refused(String),
    /// A newer link took its place.
    Replaced,
}

/// Serves a link until it ends, and reports that.
pub(super) async fn serve(shared: Arc<Shared>, known: Arc<Known>, link: Link, orders: Orders) {
    let Link { connection, mut out, mut input } = link;
    let Orders { generation, mut frames, mut farewell, _alive } = orders;
    let closed = connection.clone();
    let end = tokio::select! {
        biased;
        end = read(&shared, &known, generation, &mut input) => end,
        end = write(&mut frames, &mut out) => end,
        error = closed.closed() => End::Lost(explain(&error, shared.limits.silence)),
    };
    match end {
        End::HungUp => {
            let Farewell { reason, linger } = farewell
                .try_recv()
                .unwrap_or(Farewell { reason: "the other node stopped".to_owned(), linger: Duration::ZERO });
            let _ = out.finish();
            let _ = timeout(linger, drain(&mut input)).await;
            connection.close(ENDED, reason.as_bytes());
        }
        End::Finished => {
            // The other side has hung up: it waits for our last word, and then says why.
            let _ = out.finish();
            let why = match timeout(shared.limits.linger, connection.closed()).await {
                Ok(error) => explain(&error, shared.limits.silence),
                Err(_) => "it ended the link".to_owned(),
            };
            connection.close(ENDED, b"");
            shared.ended(&known, generation, &why, false);
        }
        End::Lost(why) => {
            connection.close(ENDED, b"");
            shared.ended(&known, generation, &why, false);
        }
        End::Refused(why) => {
            connection.close(REFUSED, board::clean(&why).as_bytes());
            shared.ended(&known, generation, &why, true);
        }
        End::Replaced => {}
    }
}

/// Sends frames as they come, straight from the memory in which they were queued.
async fn write(frames: &mut mpsc::Receiver<Arc<[u8]>>, out: &mut SendStream) -> End {
    while let Some(frame) = frames.recv().await {
        match out.write_chunk(Bytes::from_owner(frame)).await {
            Ok(()) => {}
            Err(WriteError::Stopped(_)) => return End::Refused("it stopped reading".to_owned()),
            // The reason is the connection's: whoever waits for its end has it.
            Err(_) => return std::future::pending().await,
        }
    }
    End::HungUp
}

/// Reads frames and hands them over, until something is not one.
async fn read(shared: &Shared, known: &Known, generation: u64, input: &mut RecvStream) -> End {
    loop {
        match read_frame(shared, known, generation, input).await {
            Ok(true) => {}
            Ok(false) => return End::Replaced,
            Err(Fault::Finished) => return End::Finished,
            Err(Fault::Wrong(why)) => return End::Refused(why),
            Err(Fault::Lost) => return std::future::pending().await,
        }
    }
}

/// What can go wrong with a frame.
enum Fault {
    Finished,
    Wrong(String),
    Lost,
}

impl From<WireError> for Fault {
    fn from(error: WireError) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::ConnectionLost(_) => Self::Lost,
            other => Self::Wrong(other.to_string()),
        }
    }
}

/// One frame. Memory is taken when the header is as it must be and there is room; whether the link still counts.
async fn read_frame(
    shared: &Shared,
    known: &Known,
    generation: u64,
    input: &mut RecvStream,
) -> Result<bool, Fault> {
    let mut head = [0; HEADER];
    let first = input.read(&mut head).await?.ok_or(Fault::Finished)?;
    within(shared.limits.grace, "header", input, head.get_mut(first..).unwrap_or_default()).await?;
    let header = Header::decode(&head)?;
    known.neighbour.expected.check(&header)?;
    let Ok(room) = Semaphore::acquire_owned(Arc::clone(&known.room)).await else { return Ok(false) };
    let length =
        usize::try_from(header.length).map_err(|_| Fault::Wrong("too long for this machine".to_owned()))?;
    let mut payload: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
    let bytes = Arc::get_mut(&mut payload).unwrap_or_default();
    within(shared.limits.payload_deadline(header.length), "payload", input, bytes).await?;
    let frame = Frame::join(header, payload)?;
    Ok(shared.frame(known.neighbour.member, generation, frame, room))
}

/// Fills `bytes`, in time.
async fn within(time: Duration, part: &str, input: &mut RecvStream, bytes: &mut [u8]) -> Result<(), Fault> {
    let wanted = bytes.len();
    match timeout(time, input.read_exact(bytes)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(ReadExactError::FinishedEarly(found))) => {
            Err(Fault::Wrong(format!("cut short: {found} of {wanted} bytes of a {part}")))
        }
        Ok(Err(ReadExactError::ReadError(error))) => Err(error.into()),
        Err(_) => Err(Fault::Wrong(format!("too slow: its {part} was not here after {time:?}"))),
    }
}

/// Throws away what still comes, until the other side has finished too.
async fn drain(input: &mut RecvStream) {
    let mut scratch = [0; 4096];
    while let Ok(Some(_)) = input.read(&mut scratch).await {}
}

/// Why a connection broke, in words.
pub(super) fn explain(error: &ConnectionError, silence: Duration) -> String {
    match error {
        ConnectionError::ApplicationClosed(close) if !close.reason.is_empty() => {
            format!("it ended the link: {}", String::from_utf8_lossy(&close.reason))
        }
        ConnectionError::ApplicationClosed(_) => "it ended the link".to_owned(),
        ConnectionError::TimedOut => format!("nothing was heard from it for {silence:?}"),
        other => format!("the connection broke: {other}"),
    }
}
